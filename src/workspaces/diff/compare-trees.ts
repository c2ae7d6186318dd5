import { join } from 'node:path';
import { type Compared, type Difference, differencesOf, find, isLeftOut, leftOutNote, namesIn } from './difference.ts';

/** What changed from one folder to its copy. */
export async function compareTrees(before: string, after: string): Promise<Compared> {
  const differences: Difference[] = [];
  const leftOut: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    const sides = await Promise.all([before, after].map((root) => namesIn(join(root, folder), folder || '.', leftOut)));
    for (const name of [...new Set(sides.flat())].sort())
      await compare(name, folder === '' ? name : `${folder}/${name}`);
  };
  const compare = async (name: string, path: string) => {
    const [was, is] = await Promise.all([find(join(before, path)), find(join(after, path))]);
    if (isLeftOut(name, was) || isLeftOut(name, is)) leftOut.push(leftOutNote(path));
    else if (!was && !is) leftOut.push(`${path}: its name cannot be read`);
    else if (was?.stats.isDirectory() && is?.stats.isDirectory()) await walk(path);
    else differences.push(...(await differencesOf({ path, before: was, after: is }, leftOut)));
  };
  await walk('');
  return { differences, leftOut };
}
