/** Before the heavy tests, which need the package as it is released. */
export { packWhole as default } from './package.ts';
