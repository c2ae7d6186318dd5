export const MAX_NAME_LENGTH = 64;

/**
 * The name of a skill in a folder: the folder's own where it may be a name, else the nearest one that may: lower case, and
 * a hyphen for what is neither letter nor digit.
 */
export function skillNameFor(folderName: string): string {
  const words = folderName
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const joined = words.filter((word) => word !== '').join('-');
  return [...joined].slice(0, MAX_NAME_LENGTH).join('').replace(/-$/, '') || 'skill';
}
