import type { Reading, Topic } from './topic.ts';
import { calendarTopics } from './topics/calendar.ts';
import { placeAndPeopleTopics } from './topics/places-and-people.ts';
import { quantityTopics } from './topics/quantities.ts';
import { recordTopics } from './topics/records.ts';

/** Everything that the simulated models know how to talk about. */
export const TOPICS: readonly Topic[] = [
  ...calendarTopics,
  ...quantityTopics,
  ...recordTopics,
  ...placeAndPeopleTopics,
];

/** The first topic whose kind of question occurs in the text, with the value asked about. */
export function readQuestion(text: string): Reading | undefined {
  for (const topic of TOPICS) {
    const reading = topic.read(text);
    if (reading) return reading;
  }
  return undefined;
}
