export { COLOR_CODES, type Colors, colorsFor, isColored, noColors } from './layout/colors.ts';
export {
  ago,
  byteSize,
  type Column,
  clip,
  clipWords,
  duration,
  fitRows,
  nextLines,
  padEnd,
  table,
  textWidth,
  wrap,
} from './layout/layout.ts';
