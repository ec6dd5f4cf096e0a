// Named columns of a query. One list gives both the text of the SELECT and the number of each column, so the
// two cannot disagree:
//
//   #define SK_ENTRY_LIST(FIRST, NEXT) FIRST(id, "e.id") NEXT(name, "e.name")
//   SK_COLUMN_NAMES(EntryColumn, SK_ENTRY_LIST);
//   … "SELECT " SK_COLUMN_TEXT(SK_ENTRY_LIST) " FROM entries e" … row.str(EntryColumn::name) …
//
// `EntryColumn::count` is the number of the first column that a query adds behind them.
#pragma once

#define SK_COLUMN_FIRST_TEXT(name, sql) sql
#define SK_COLUMN_NEXT_TEXT(name, sql) ", " sql
#define SK_COLUMN_NAME(name, sql) name,

#define SK_COLUMN_TEXT(LIST) LIST(SK_COLUMN_FIRST_TEXT, SK_COLUMN_NEXT_TEXT)
#define SK_COLUMN_NAMES(Names, LIST)                           \
  struct Names {                                               \
    enum : int { LIST(SK_COLUMN_NAME, SK_COLUMN_NAME) count }; \
  }
