import type { Colors } from '../../report/index.ts';

/** How often the test tasks were looked at, and from the second time on what that means. */
export function testLookLines(looks: number | undefined, { dim }: Colors): string[] {
  if (looks === undefined) return [];
  const meaning = [
    'each further look makes a test score a little less of a surprise:',
    'choose by validation, or use new tasks',
  ];
  return [`test looks: ${looks}`, ...(looks > 1 ? meaning.map(dim) : [])];
}
