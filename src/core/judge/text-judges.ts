import type { RolloutOutput } from '../env.ts';
import { includesText } from '../text/includes-text.ts';
import { jsonInReply, whyUnfit } from './json-schema.ts';
import { searchPattern } from './regex/python-regex.ts';
import type { TaskScorer } from './task-judge.ts';

const fold = (text: string, ignoreCase: boolean) => (ignoreCase ? text.toLowerCase() : text);

/** Whether an answer holds one of some texts, or all of them. */
export const containsJudge: TaskScorer<'contains'> = {
  kind: 'contains',
  version: '1',
  score({ judge: { reference, all, ignoreCase }, answer }): RolloutOutput {
    const given = fold(answer, ignoreCase);
    const missing = reference.filter((text) => !includesText(given, fold(text, ignoreCase)));
    const found = reference.length - missing.length;
    if (all ? missing.length === 0 : found > 0) return { hard: 1, soft: 1 };
    const wanted = missing.map((text) => JSON.stringify(text)).join(all ? ' and ' : ' or ');
    return { hard: 0, soft: all ? found / reference.length : 0, failReason: `words missing: it lacks ${wanted}` };
  },
};

/** Whether one of some patterns matches somewhere in the answer. Which, analysts do not read: it would end up in the skill. */
export const regexJudge: TaskScorer<'regex'> = {
  kind: 'regex',
  version: '1',
  score({ judge: { pattern }, answer }): RolloutOutput {
    const found = pattern.map((each) => searchPattern(each, answer));
    if (found.includes(true)) return { hard: 1, soft: 1 };
    if (!found.includes(undefined)) return { hard: 0, soft: 0, failReason: WRONG_FORM };
    return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: TOO_LONG };
  },
};

const WRONG_FORM = 'wrong form: it does not have a form that is required, which is not shown here';
const TOO_LONG = 'a pattern of the judge would take too long on an answer of this length';

/** Whether the JSON in an answer fits a schema. */
export const jsonSchemaJudge: TaskScorer<'json-schema'> = {
  kind: 'json-schema',
  version: '1',
  score({ judge: { schema }, answer }): RolloutOutput {
    const found = jsonInReply(answer);
    if (!found) return { hard: 0, soft: 0, failReason: 'no JSON: the answer holds none that can be read' };
    const problem = whyUnfit(found.value, schema);
    return problem === undefined
      ? { hard: 1, soft: 1 }
      : { hard: 0, soft: 0, failReason: `does not fit the schema: ${problem}` };
  },
};
