export { openingAnswer } from './opening.ts';
export { serveMcp } from './serve.ts';
