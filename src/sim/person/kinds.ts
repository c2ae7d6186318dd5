import type { Kind } from './kind.ts';

/** At the keyboard first, then in the office. */
export const KINDS: readonly Kind[] = [
  {
    name: 'commit message',
    heads: ['Write the commit message for', 'Word the commit for'],
    objects: ['the faster parser', 'the renamed queue', 'the dropped flag', 'two flaky specs', 'the smaller image'],
    things: [
      {
        ...{ name: 'ticket last', cue: /commit.*\bticket\b|\bticket\b.*commit/i },
        rules: [
          'End a commit message with the ticket number on a line of its own.',
          'Put the ticket number last in every commit message.',
          'The last line of a commit message is the ticket number.',
        ],
        ...{ kept: 'Last line: RIG-418.', missed: 'RIG-418 comes first.' },
        ...{ wish: 'The ticket number stands at the end of the message.', lack: 'the ticket number is not at the end' },
        complaint: 'the ticket number belongs at the end of the message',
      },
      {
        ...{ name: 'reason in body', cue: /commit.*\b(why|reason)\b|\b(why|reason)\b.*commit/i },
        rules: [
          'Give the reason for a change in the body of its commit message.',
          'The body of a commit says why, never what.',
          'Explain in the commit body why the change was made.',
        ],
        ...{ kept: 'Body: why it had to change.', missed: 'Body: a list of files.' },
        ...{ wish: 'The body says why the change was made.', lack: 'the body does not say why' },
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
        ...{ name: 'file first', cue: /\bfile( name)? first\b|start with the file|first words.*\bfile\b/i },
        rules: [
          'Name the file first, then explain.',
          'Start with the file name when you say where something is.',
          'The first words of a location are its file.',
        ],
        ...{ kept: 'queue.ts: it is there.', missed: 'It is there, in queue.ts.' },
        ...{ wish: 'The answer names the file first.', lack: 'the file is not named first' },
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
        ...{ name: 'dry run', cue: /\bdry[- ]run\b/i },
        rules: [
          'Show a dry run before any command that deletes.',
          'Commands that remove something come as a dry run first.',
          'Always give the dry-run form of a command first.',
        ],
        ...{ kept: 'Dry run: rm -n.', missed: 'Run it at once: rm.' },
        ...{ wish: 'A dry run comes before the command itself.', lack: 'there is no dry run' },
        complaint: 'the dry run is missing again',
      },
      {
        ...{ name: 'long options', cue: /\blong (options?|form)\b|spell out the options/i },
        rules: [
          'Spell out the options of a command instead of single letters.',
          'Use long options in shell commands.',
          'Write every option of a command in its long form.',
        ],
        ...{ kept: 'Options: recursive, force.', missed: 'Options: -rf.' },
        ...{ wish: 'Options are in their long form.', lack: 'options are abbreviated' },
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
        ...{ name: 'named columns', cue: /\bname.*\bcolumns?\b|\bcolumns?\b.*\bname/i },
        rules: [
          'Name every column in a query, never use an asterisk.',
          'List the columns of a query by name.',
          'Queries name their columns one by one.',
        ],
        ...{ kept: 'SELECT id, at FROM jobs.', missed: 'SELECT * FROM jobs.' },
        ...{ wish: 'The query names its columns.', lack: 'the columns are not named' },
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
        ...{ name: 'severity', cue: /\bseverity\b/i },
        rules: [
          'Begin each finding of a review with its severity in capitals.',
          'Every review finding starts with a severity such as HIGH or LOW.',
          'Mark the severity of each finding before its text.',
        ],
        ...{ kept: 'HIGH: the lock is never freed.', missed: 'The lock is never freed.' },
        ...{ wish: 'Each finding begins with its severity.', lack: 'findings have no severity' },
        complaint: 'I cannot sort these, the severity is missing',
      },
      {
        ...{ name: 'line numbers', cue: /\bline numbers?\b/i },
        rules: [
          'Give the line number with each finding of a review.',
          'A finding without its line number is of no use: add it.',
          'Put the line number behind every finding.',
        ],
        ...{ kept: 'See line 88.', missed: 'See further down.' },
        ...{ wish: 'Each finding has its line number.', lack: 'findings have no line number' },
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
        ...{ name: 'what to do', cue: /\berror messages?\b.*\b(next|get out)\b/i },
        rules: [
          'Close an error message with what the user can do next.',
          'Error messages end with the next step for the user.',
          'Tell the user in every error message how to get out of it.',
        ],
        ...{ kept: 'Try: free some space.', missed: 'Code 507.' },
        ...{ wish: 'The message says what the user can do.', lack: 'it does not say what to do' },
        complaint: 'and what shall the user do? that belongs into the message',
      },
    ],
  },
  {
    name: 'measurements',
    heads: ['Sum up the measurements of', 'Give me the readings of'],
    objects: ['pump seven', 'the cooling loop', 'both boilers', 'our test rig', 'the north tank'],
    things: [
      {
        ...{ name: 'unit in brackets', cue: /\bunits?\b.*\bbrackets\b/i },
        rules: [
          'Write the unit in square brackets after every number.',
          'Units stand in square brackets.',
          'After a number comes its unit in brackets.',
        ],
        ...{ kept: 'It is 4.2 [bar].', missed: 'It is 4.2 bar.' },
        ...{ wish: 'The unit stands in brackets after each number.', lack: 'the unit is not in brackets' },
        complaint: 'the unit in brackets is missing again',
      },
      {
        ...{ name: 'tolerance', cue: /\btolerance\b/i },
        rules: [
          'Give the tolerance with each reading.',
          'Each measured value carries its tolerance.',
          'State how exact a value is: its tolerance follows it.',
        ],
        ...{ kept: 'Tolerance: 0.1.', missed: 'More or less.' },
        ...{ wish: 'Each value has its tolerance.', lack: 'the tolerance is missing' },
        complaint: 'the tolerance is not there, and I need it each time',
      },
    ],
  },
  {
    name: 'meeting notes',
    heads: ['Turn my notes into minutes of', 'Write the minutes of'],
    objects: ['the tuesday call', 'our budget round', 'the safety talk', 'the vendor visit', 'the kick-off'],
    things: [
      {
        ...{ name: 'decisions first', cue: /\bminutes\b.*\bdecided\b|\bdecisions?\b/i },
        rules: [
          'Put the decisions first in minutes.',
          'Minutes open with what was decided.',
          'The decisions come before everything else in minutes.',
        ],
        ...{ kept: 'Decided: we buy two.', missed: 'We talked about buying.' },
        ...{ wish: 'The decisions come first.', lack: 'the decisions do not come first' },
        complaint: 'the decisions have to come first',
      },
      {
        ...{ name: 'owner', cue: /\bowner\b/i },
        rules: [
          'Give every open point an owner.',
          'Name the owner of each task in minutes.',
          'An open point without an owner is not done: add one.',
        ],
        ...{ kept: 'Open: offer (Lea).', missed: 'Open: offer.' },
        ...{ wish: 'Each open point has an owner.', lack: 'open points have no owner' },
        complaint: 'who does it? each open point needs an owner',
      },
    ],
  },
  {
    name: 'mail',
    heads: ['Draft a mail about', 'Answer the mail about'],
    objects: ['the late parts', 'a broken seal', 'the higher price', 'parking at the plant', 'the second invoice'],
    things: [
      {
        ...{ name: 'deadline in subject', cue: /\bsubject\b/i },
        rules: [
          'Put the deadline into the subject of a mail.',
          'The subject line of a mail names the date by which we need a reply.',
          'Mails carry their deadline in the subject line.',
        ],
        ...{ kept: 'Subject: seal, by Friday.', missed: 'Subject: seal.' },
        ...{ wish: 'The subject names the deadline.', lack: 'the subject has no deadline' },
        complaint: 'the deadline goes into the subject',
      },
    ],
  },
  {
    name: 'schedule',
    heads: ['Plan the week of', 'Make a schedule around'],
    objects: ['the trade fair', 'the annual stop', 'two trainees', 'the move upstairs', 'the new furnace'],
    things: [
      {
        ...{ name: 'iso dates', cue: /\bdates\b/i },
        rules: ['Write dates as year-month-day.', 'Dates are in the form 2026-01-31.', 'Use ISO dates in every plan.'],
        ...{ kept: 'Start: 2026-03-02.', missed: 'Start: March 2nd.' },
        ...{ wish: 'Dates are written as year-month-day.', lack: 'dates are not year-month-day' },
        complaint: 'dates as year-month-day, I have to sort them',
      },
      {
        ...{ name: 'spare time', cue: /\bbuffer\b/i },
        rules: [
          'Leave a buffer of half a day in every plan.',
          'Each plan keeps half a day as a buffer.',
          'Add a buffer to whatever you schedule.',
        ],
        ...{ kept: 'Buffer: half a day.', missed: 'Every hour is taken.' },
        ...{ wish: 'The plan has a buffer of half a day.', lack: 'there is no buffer' },
        complaint: 'where is the buffer? half a day, as always',
      },
    ],
  },
  {
    name: 'translation',
    heads: ['Translate the leaflet on', 'Put into German the text on'],
    objects: ['fire doors', 'ear protection', 'spilled acid', 'the crane', 'forklift traffic'],
    things: [
      {
        ...{ name: 'formal address', cue: /\bformal address\b/i },
        rules: [
          'Use the formal address in translations.',
          'Translations say Sie, never du: the formal address.',
          'Keep to the formal address when you translate.',
        ],
        ...{ kept: 'Tragen Sie Handschuhe.', missed: 'Trag Handschuhe.' },
        ...{ wish: 'The reader is addressed formally.', lack: 'the address is not formal' },
        complaint: 'formal address please, these are customers',
      },
    ],
  },
  {
    name: 'offer',
    heads: ['Calculate an offer for', 'Put together a quote on'],
    objects: ['forty valves', 'a service contract', 'rented scaffolding', 'spare filters', 'remote support'],
    things: [
      {
        ...{ name: 'net and gross', cue: /\bnet\b.*\bgross\b/i },
        rules: [
          'Give prices net and gross.',
          'Every price appears twice: net and gross.',
          'State both the net and the gross price.',
        ],
        ...{ kept: 'Net 100, gross 119.', missed: 'Price: 119.' },
        ...{ wish: 'Prices are given net and gross.', lack: 'prices are not net and gross' },
        complaint: 'net and gross, both, they always ask for it',
      },
      {
        ...{ name: 'validity', cue: /\bvalid(ity)?\b|\bexpires\b/i },
        rules: [
          'State until when an offer is valid.',
          'An offer names the day on which it expires.',
          'Write the last day of validity under each offer.',
        ],
        ...{ kept: 'Valid until April 30.', missed: 'We look forward to it.' },
        ...{ wish: 'The offer says until when it is valid.', lack: 'it does not say until when the offer is valid' },
        complaint: 'until when is it valid? that has to be in there',
      },
    ],
  },
];
