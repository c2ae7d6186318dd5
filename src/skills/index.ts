export { type Finding, parseFrontmatter, skillHeader } from './frontmatter.ts';
export { type LintedSkill, lintFolder, lintSkill, skillNameFor } from './lint-skill.ts';
export {
  findSkillFiles,
  NO_SKILL_TEXT,
  readPackage,
  readSkillFiles,
  type SkillFile,
  skillFileAt,
  skillTextOf,
} from './read-skill.ts';
export { isCutOff } from './replace/cut-off.ts';
export { backupPath, readReceipt } from './replace/journal.ts';
export { digestOf, type Moment, Receipt, type Replacement } from './replace/locate.ts';
export { replaceFiles, undo } from './replace/replace-files.ts';
export { type Recovered, recoverReplacements } from './replace/take-back.ts';
export { type ReadDocument, readDocument } from './replace/target.ts';
