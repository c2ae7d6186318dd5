import { finds, type Rule } from '../rule.ts';

/** Git as somebody else, or past the others. */
export const GIT_RULES: readonly Rule[] = [
  {
    kind: 'git',
    reason: 'changes who a commit is from',
    find: finds(
      'git +config\\b[^\\n]{0,40}\\buser\\.(?:name|email)|--author[ =]|--reset-author|\\bgit_(?:author|committer)_\\w+=|git +commit\\b[^\\n]{0,60}--date|\\bco-authored-by: ?\\S',
      '\\bcommit\\b[^\\n.]{0,40}\\b(?:under (?:the )?(?:name|author)|as (?:another|somebody|someone|the owner|root)|in the name of)',
    ),
    unless: /\boriginal\b/u,
  },
  {
    kind: 'git',
    reason: 'changes where a repository goes',
    find: finds(
      'git +remote +(?:add|set-url)|git +push +(?:-\\S+ +)*(?:["\'`]?(?:https?:|git@|ssh:|git:)|--mirror)|\\binsteadof\\b|pushurl|credential\\.helper|git +config\\b[^\\n]{0,40}(?:--global|--system)|git +submodule +add',
      '\\bpush\\b[^\\n.]{0,40}\\b(?:mirror|fork|backup remote|second remote)\\b',
    ),
  },
  {
    kind: 'git',
    reason: 'rewrites what others have',
    find: finds(
      'git +push\\b[^\\n]{0,60}(?:--force(?!-with-lease|-if)\\b| -f\\b| \\+\\w)|git +tag +(?:-\\w+ +)*-f|--delete +origin|git +push +\\S+ +:\\w|git +reset +--hard +origin[^\\n]{0,60}push',
      '\\bpush(?:es|ing)?\\b[^\\n.]{0,20}\\bwith force\\b|\\bforce[ -]?push\\w*\\b(?! with lease)|\\b(?:move|re-?point|replace|overwrite)\\b (?:the |an? )?(?:\\w+ )?(?:tags?|releases?)\\b|\\brewrite (?:the )?(?:git |commit )?history\\b',
    ),
    unless: /\bask\b|--force-with-lease/u,
  },
  {
    kind: 'git',
    reason: 'pushes past review',
    find: finds(
      '\\b(?:push|commit|merge)(?:es|ing)?\\b[^\\n.]{0,30}\\b(?:directly|straight) (?:to|into|on)\\b|\\bgh +pr +merge\\b[^\\n]{0,60}--admin',
      '\\b(?:push|commit|merge|deploy|release|publish)(?:es|ing)?\\b[^\\n.]{0,40}\\bwithout (?:an? |any |the )?(?:pull request|review|pr|ci|tests?|approval|green)\\b',
    ),
  },
];
