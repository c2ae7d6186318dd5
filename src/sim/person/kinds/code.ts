import type { Kind } from '../kind.ts';

export const CODE_KINDS: readonly Kind[] = [
  {
    name: 'commit message',
    heads: ['Write the commit message for', 'Word the commit for'],
    objects: ['the faster parser', 'the renamed queue', 'the dropped flag', 'two flaky specs', 'the smaller image'],
    things: [
      {
        name: 'ticket last',
        rules: [
          'End a commit message with the ticket number on a line of its own.',
          'Put the ticket number last in every commit message.',
          'The last line of a commit message is the ticket number.',
        ],
        cue: /commit.*\bticket\b|\bticket\b.*commit/i,
        kept: 'Last line: RIG-418.',
        missed: 'RIG-418 comes first.',
        wish: 'The ticket number stands at the end of the message.',
        lack: 'the ticket number is not at the end',
        complaint: 'the ticket number belongs at the end of the message',
      },
      {
        name: 'reason in body',
        rules: [
          'Give the reason for a change in the body of its commit message.',
          'The body of a commit says why, never what.',
          'Explain in the commit body why the change was made.',
        ],
        cue: /commit.*\b(why|reason)\b|\b(why|reason)\b.*commit/i,
        kept: 'Body: why it had to change.',
        missed: 'Body: a list of files.',
        wish: 'The body says why the change was made.',
        lack: 'the body does not say why',
        complaint: 'I want the body to say why, the diff shows what',
      },
    ],
  },
  {
    name: 'where in the code',
    heads: ['Find out where we handle', 'Show me the place that does'],
    objects: ['retries of uploads', 'expired sessions', 'rounding of prices', 'the night shift', 'lost packets'],
    things: [
      {
        name: 'file first',
        rules: [
          'Name the file first, then explain.',
          'Start with the file name when you say where something is.',
          'The first words of a location are its file.',
        ],
        cue: /\bfile( name)? first\b|start with the file|first words.*\bfile\b/i,
        kept: 'queue.ts: it is there.',
        missed: 'It is there, in queue.ts.',
        wish: 'The answer names the file first.',
        lack: 'the file is not named first',
        complaint: 'name the file first, I had to search for it again',
      },
    ],
  },
  {
    name: 'shell command',
    heads: ['Give me a shell command for', 'Which command line does the job for'],
    objects: ['old log folders', 'stale branches', 'huge uploads', 'duplicate photos', 'orphaned volumes'],
    things: [
      {
        name: 'dry run',
        rules: [
          'Show a dry run before any command that deletes.',
          'Commands that remove something come as a dry run first.',
          'Always give the dry-run form of a command first.',
        ],
        cue: /\bdry[- ]run\b/i,
        kept: 'Dry run: rm -n.',
        missed: 'Run it at once: rm.',
        wish: 'A dry run comes before the command itself.',
        lack: 'there is no dry run',
        complaint: 'the dry run is missing again',
      },
      {
        name: 'long options',
        rules: [
          'Spell out the options of a command instead of single letters.',
          'Use long options in shell commands.',
          'Write every option of a command in its long form.',
        ],
        cue: /\blong (options?|form)\b|spell out the options/i,
        kept: 'Options: recursive, force.',
        missed: 'Options: -rf.',
        wish: 'Options are in their long form.',
        lack: 'options are abbreviated',
        complaint: 'please with long options, nobody here knows the letters',
      },
    ],
  },
  {
    name: 'database query',
    heads: ['Write a query that lists', 'I need the SQL that counts'],
    objects: ['unpaid orders', 'idle machines', 'late deliveries', 'double bookings', 'inactive suppliers'],
    things: [
      {
        name: 'named columns',
        rules: [
          'Name every column in a query, never use an asterisk.',
          'List the columns of a query by name.',
          'Queries name their columns one by one.',
        ],
        cue: /\bname.*\bcolumns?\b|\bcolumns?\b.*\bname/i,
        kept: 'SELECT id, at FROM jobs.',
        missed: 'SELECT * FROM jobs.',
        wish: 'The query names its columns.',
        lack: 'the columns are not named',
        complaint: 'no asterisk please, name the columns',
      },
    ],
  },
  {
    name: 'code review',
    heads: ['Review the change to', 'Look over the patch for'],
    objects: ['the login form', 'our rate limiter', 'the export job', 'the price table', 'the sensor driver'],
    things: [
      {
        name: 'severity',
        rules: [
          'Begin each finding of a review with its severity in capitals.',
          'Every review finding starts with a severity such as HIGH or LOW.',
          'Mark the severity of each finding before its text.',
        ],
        cue: /\bseverity\b/i,
        kept: 'HIGH: the lock is never freed.',
        missed: 'The lock is never freed.',
        wish: 'Each finding begins with its severity.',
        lack: 'findings have no severity',
        complaint: 'I cannot sort these, the severity is missing',
      },
      {
        name: 'line numbers',
        rules: [
          'Give the line number with each finding of a review.',
          'A finding without its line number is of no use: add it.',
          'Put the line number behind every finding.',
        ],
        cue: /\bline numbers?\b/i,
        kept: 'See line 88.',
        missed: 'See further down.',
        wish: 'Each finding has its line number.',
        lack: 'findings have no line number',
        complaint: 'which line? I asked for line numbers before',
      },
    ],
  },
  {
    name: 'error text',
    heads: ['Word an error message for', 'What should the program say about'],
    objects: ['a full disk', 'an empty cart', 'a forgotten password', 'a missing cable', 'an unknown plan'],
    things: [
      {
        name: 'what to do',
        rules: [
          'Close an error message with what the user can do next.',
          'Error messages end with the next step for the user.',
          'Tell the user in every error message how to get out of it.',
        ],
        cue: /\berror messages?\b.*\b(next|get out)\b/i,
        kept: 'Try: free some space.',
        missed: 'Code 507.',
        wish: 'The message says what the user can do.',
        lack: 'it does not say what to do',
        complaint: 'and what shall the user do? that belongs into the message',
      },
    ],
  },
];
