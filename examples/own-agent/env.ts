// Tasks for an agent that is reached over HTTP: it gets the skill and a question, and its answer is scored here.
import { readFileSync } from 'node:fs';
import { defineEnv, ModelCallError } from 'skillopt';
import { extractAnswer, scoreAnswer } from 'skillopt/envs';
import { z } from 'zod';

const AGENT_URL = process.env.AGENT_URL ?? 'http://127.0.0.1:8787/';

const Task = z.object({
  id: z.string(),
  split: z.enum(['train', 'val', 'test']),
  question: z.string(),
  answers: z.array(z.string()).min(1),
  taskType: z.string(),
});
type Task = z.infer<typeof Task>;

const lines = readFileSync(new URL('tasks.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const tasks = lines.map((line) => Task.parse(JSON.parse(line)));
const tasksOf = (split: Task['split']) => tasks.filter((task) => task.split === split);

export default defineEnv({
  name: 'own-agent',
  schema: Task,
  items: { train: tasksOf('train'), val: tasksOf('val'), test: tasksOf('test') },
  async rolloutOne({ item: { question, answers, taskType }, skill, signal }) {
    const reply = await askAgent({ skill, question }, signal);
    const predictedAnswer = extractAnswer(reply);
    const failReason = `expected ${JSON.stringify(answers[0])}, got ${JSON.stringify(predictedAnswer)}`;
    const conversation = [
      { role: 'user', content: `Question: ${question}` },
      { role: 'assistant', content: reply },
    ];
    return { ...scoreAnswer(predictedAnswer, answers), question, predictedAnswer, failReason, taskType, conversation };
  },
});

/** An agent that is down is an outage, not a wrong answer: a `ModelCallError` says so. */
async function askAgent(body: { skill: string; question: string }, signal: AbortSignal): Promise<string> {
  const response = await fetch(AGENT_URL, { method: 'POST', body: JSON.stringify(body), signal }).catch((cause) => {
    throw new ModelCallError(`no agent answers at ${AGENT_URL}: start it with npx tsx agent.ts`, { cause });
  });
  if (!response.ok) throw new ModelCallError(`the agent answered ${response.status}`, { status: response.status });
  return z.object({ answer: z.string() }).parse(await response.json()).answer;
}
