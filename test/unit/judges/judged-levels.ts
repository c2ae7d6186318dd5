import type { ChatRequest, SkillEnv } from 'skillopt';
import { judgeAnswer, judgedOutput } from 'skillopt/judges';
import { scripted } from 'skillopt/testing';
import type { Task } from '../../support/scripted-run.ts';

/** What the judge of a judged run was asked about. */
export type Asked = {
  readonly k: number;
  /** The levels in the answers, as they stand in the question. */
  readonly levels: readonly number[];
  readonly request: ChatRequest;
};

type Judged = {
  /** The level of the answer that the judge compares with. Without it, it scores by itself. */
  readonly reference?: (task: Task) => number;
  readonly repeats?: number;
};

/** The world of levels, but for the score: that is up to a judge, who reads the level in the answer. */
export const judgedBy = ({ reference, repeats = 2 }: Judged = {}): Partial<SkillEnv<Task>> => ({
  async rolloutOne({ item, skill, target, judge, signal }) {
    const messages = [
      { role: 'system' as const, content: skill },
      { role: 'user' as const, content: JSON.stringify(item) },
    ];
    const { text } = await target.complete({ messages, signal });
    const subject = {
      question: `${item.id}: reach k=${item.k}`,
      answer: `level ${text}`,
      rubric: 'The level is at least k.',
    };
    const compared = reference ? { reference: `level ${reference(item)}` } : {};
    const judgement = await judgeAnswer({ judge, ...subject, ...compared, repeats, signal });
    return { ...judgedOutput(judgement), conversation: messages };
  },
});

export const judgeWho = (reply: (asked: Asked) => unknown) =>
  scripted('judge', async (request) => {
    const said = await reply(readQuestion(request));
    return typeof said === 'string' ? said : JSON.stringify(said);
  });

function readQuestion(request: ChatRequest): Asked {
  const text = request.messages[1]!.content;
  const levels = [...text.matchAll(/^level (-?[\d.]+)$/gm)].map(([, level]) => Number(level));
  return { k: Number(text.match(/k=(\d+)/)![1]), levels, request };
}

/** Knows the truth, and says it. */
export const byRule = ({ k, levels }: Asked) => ({ reason: 'by rule', score: Number(levels[0]! >= k) });
export const honest = () => judgeWho(byRule);
