export { openingAnswer, serveMcp } from './serve.ts';
