// An agent with upload: it puts its input into a container, runs code there, and answers with links that do not rot.
// `think` stands for your model: it is given what happened so far and says what to run next, or what to answer.
import OpenAI, { toFile } from "openai";

const client = new OpenAI({ baseURL: `${process.env.SANDKEEP_SERVER}/v1`, apiKey: process.env.SANDKEEP_KEY });

function think(steps) {
  if (steps.length === 0) return { code: "import csv\nrows = list(csv.DictReader(open('sales.csv')))\nprint(sum(int(row['revenue']) for row in rows))" };
  if (steps.length === 1) {
    const total = steps[0].outputs[0].logs.trim();
    return { code: `with open('summary.md', 'w') as out:\n    out.write('# Sales\\n\\nTotal: ${total}\\n')` };
  }
  return { answer: "The total is in [the summary](sandbox:/mnt/data/summary.md)." };
}

const container = await client.containers.create({ name: "sales agent" });
const table = "month,revenue\nJanuary,10\nFebruary,32\n";
await client.containers.files.create(container.id, { file: await toFile(Buffer.from(table), "sales.csv") });

const steps = [];
let next;
while (!(next = think(steps)).answer) {
  steps.push(await client.post(`/containers/${container.id}/exec`, { body: { code: next.code } }));
}

// What the model calls sandbox:/mnt/data/… is a file that some step wrote; its link works from now on.
const files = steps.flatMap((step) => step.files);
const answer = next.answer.replace(/sandbox:(\/mnt\/data\/[^)\s]+)/g, (whole, path) => files.findLast((file) => file.path === path)?.link ?? whole);
console.log(answer);

const link = /\((http[^)]+)\)/.exec(answer)[1];
const summary = await fetch(link, { headers: { Authorization: `Bearer ${process.env.SANDKEEP_KEY}` } });
console.log(await summary.text());
await client.containers.delete(container.id);
