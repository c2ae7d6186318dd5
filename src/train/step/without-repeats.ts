import type { Patch, UpdateItem } from '../../core/skill/edit.ts';
import { isSaidIn, newLinesOf } from '../../core/skill/is-said.ts';

type Repeated = Pick<UpdateItem, 'op' | 'target' | 'content'>;
type News = { readonly patch: Patch; readonly repeats?: readonly Repeated[] };

/** The patch without what adds nothing to what the skill, or an edit before it, says already. */
export function withoutRepeats(patch: Patch, skill: string): News {
  const repeats: Repeated[] = [];
  let said = skill;
  const edits = patch.edits.flatMap((edit) => {
    const { op, target, content } = edit;
    if (op !== 'append' && op !== 'insert_after' && op !== 'replace') return [edit];
    const rest = op === 'replace' && target !== '' ? said.replace(target, () => '') : said;
    if (isSaidIn(rest, content)) {
      repeats.push({ op, target, content });
      return [];
    }
    const news = op === 'replace' ? content : newLinesOf(rest, content);
    said = `${said}\n\n${news}`;
    return [{ ...edit, content: news }];
  });
  return { patch: { ...patch, edits }, ...(repeats.length > 0 ? { repeats } : {}) };
}
