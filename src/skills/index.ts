// The names of this room that other rooms use.

export { skillNameFor } from './check-name.ts';
export type { Finding } from './finding.ts';
export { type LintedSkill, lintFolder } from './lint-folder.ts';
export { lintSkill } from './lint-skill.ts';
export { type Frontmatter, parseFrontmatter } from './parse-frontmatter.ts';
export { readPackage } from './read-package.ts';
export { findSkillFiles, NO_SKILL_TEXT, skillFileAt, skillTextOf } from './read-skill-file.ts';
export { backupPath, isCutOff, readReceipt } from './replace/journal.ts';
export { replaceFiles, undo } from './replace/replace-files.ts';
export { digestOf, type Moment, Receipt, type Replacement } from './replace/replacement.ts';
export { type Recovered, recoverReplacements } from './replace/take-back.ts';
export { type ReadDocument, readDocument } from './replace/target.ts';
export { readSkillFiles, type SkillFile } from './skill-files.ts';
export { skillHeader } from './skill-header.ts';
