// Loaded before the conformance suite, which knows nothing of keys: adds ours to whatever it sends to the server under test.
import diagnostics from 'node:diagnostics_channel';
import http from 'node:http';

const authorization = `Bearer ${process.env.SANDKEEP_KEY}`;

diagnostics.channel('undici:request:create').subscribe(({ request }) => request.addHeader('authorization', authorization));

const send = http.request;
http.request = function request(first, ...rest) {
  if (first && typeof first === 'object' && !(first instanceof URL) && !(first.headers instanceof Array)) {
    first = { ...first, headers: { ...(first.headers ?? {}), authorization } };
  }
  return send.call(http, first, ...rest);
};
