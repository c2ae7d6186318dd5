import { TRAJECTORY_FIELDS, type TrajectoryField } from '../../core/contracts/index.ts';
import type { Reading, Variant } from '../world/topic.ts';
import { readQuestion } from '../world/topics.ts';

/** What one attempt teaches: a question, and the style in which the reference answers it. */
export type Lesson = {
  readonly id: string;
  readonly reading: Reading;
  /** The style that gives the reference; `undefined` is the usual way of writing. */
  readonly wanted: Variant | undefined;
  readonly reference: string;
  readonly predicted: string;
};

const FIELD = new RegExp(`^(${TRAJECTORY_FIELDS.join('|')}):`);

/** The lesson of a trajectory block, or `undefined` when it is not about a fact, or no known style gives its reference. */
export function readTrajectory(block: string): Lesson | undefined {
  const fields = readFields(block);
  const reading = readQuestion(fields.get('question') ?? '');
  if (!reading) return undefined;
  const references = readReferences(fields);
  const styles = [undefined, ...reading.topic.variants];
  const style = styles.findIndex((candidate) => references.includes(reading.answer(candidate)));
  if (style === -1) return undefined;
  const wanted = styles[style];
  const id = fields.get('id') ?? '';
  return { id, reading, wanted, reference: reading.answer(wanted), predicted: fields.get('predicted') ?? '' };
}

type Fields = ReadonlyMap<TrajectoryField | '', string>;

/** Values by field name; a line that starts no field continues the one before. The first of a name holds. */
function readFields(block: string): Fields {
  const fields = new Map<TrajectoryField | '', string>();
  let name: TrajectoryField | '' = '';
  for (const line of block.split('\n')) {
    const found: TrajectoryField | undefined =
      name === 'conversation' ? undefined : (line.match(FIELD)?.[1] as TrajectoryField | undefined);
    if (found === undefined || fields.has(found)) {
      fields.set(name, `${fields.get(name) ?? ''}\n${line}`.trim());
    } else {
      name = found;
      fields.set(name, line.slice(name.length + 1).trim());
    }
  }
  return fields;
}

function readReferences(fields: Fields): string[] {
  const reference = fields.get('reference') ?? fields.get('failure')?.match(/expected "([^"]*)"/)?.[1] ?? '';
  return reference.split(' | ').map((answer) => answer.trim());
}
