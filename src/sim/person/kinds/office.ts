import type { Kind } from '../kind.ts';

/** What a person who reports, plans and writes asks for. */
export const OFFICE_KINDS: readonly Kind[] = [
  {
    name: 'measurements',
    heads: ['Sum up the measurements of', 'Give me the readings of'],
    objects: ['pump seven', 'the cooling loop', 'both boilers', 'our test rig', 'the north tank'],
    things: [
      {
        name: 'unit in brackets',
        rules: [
          'Write the unit in square brackets after every number.',
          'Units stand in square brackets.',
          'After a number comes its unit in brackets.',
        ],
        cue: /\bunits?\b.*\bbrackets\b/i,
        kept: 'It is 4.2 [bar].',
        missed: 'It is 4.2 bar.',
        wish: 'The unit stands in brackets after each number.',
        lack: 'the unit is not in brackets',
        complaint: 'the unit in brackets is missing again',
      },
      {
        name: 'tolerance',
        rules: [
          'Give the tolerance with each reading.',
          'Each measured value carries its tolerance.',
          'State how exact a value is: its tolerance follows it.',
        ],
        cue: /\btolerance\b/i,
        kept: 'Tolerance: 0.1.',
        missed: 'More or less.',
        wish: 'Each value has its tolerance.',
        lack: 'the tolerance is missing',
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
        name: 'decisions first',
        rules: [
          'Put the decisions first in minutes.',
          'Minutes open with what was decided.',
          'The decisions come before everything else in minutes.',
        ],
        cue: /\bminutes\b.*\bdecided\b|\bdecisions?\b/i,
        kept: 'Decided: we buy two.',
        missed: 'We talked about buying.',
        wish: 'The decisions come first.',
        lack: 'the decisions do not come first',
        complaint: 'the decisions have to come first',
      },
      {
        name: 'owner',
        rules: [
          'Give every open point an owner.',
          'Name the owner of each task in minutes.',
          'An open point without an owner is not done: add one.',
        ],
        cue: /\bowner\b/i,
        kept: 'Open: offer (Lea).',
        missed: 'Open: offer.',
        wish: 'Each open point has an owner.',
        lack: 'open points have no owner',
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
        name: 'deadline in subject',
        rules: [
          'Put the deadline into the subject of a mail.',
          'The subject line of a mail names the date by which we need a reply.',
          'Mails carry their deadline in the subject line.',
        ],
        cue: /\bsubject\b/i,
        kept: 'Subject: seal, by Friday.',
        missed: 'Subject: seal.',
        wish: 'The subject names the deadline.',
        lack: 'the subject has no deadline',
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
        name: 'iso dates',
        rules: ['Write dates as year-month-day.', 'Dates are in the form 2026-01-31.', 'Use ISO dates in every plan.'],
        cue: /\bdates\b/i,
        kept: 'Start: 2026-03-02.',
        missed: 'Start: March 2nd.',
        wish: 'Dates are written as year-month-day.',
        lack: 'dates are not year-month-day',
        complaint: 'dates as year-month-day, I have to sort them',
      },
      {
        name: 'spare time',
        rules: [
          'Leave a buffer of half a day in every plan.',
          'Each plan keeps half a day as a buffer.',
          'Add a buffer to whatever you schedule.',
        ],
        cue: /\bbuffer\b/i,
        kept: 'Buffer: half a day.',
        missed: 'Every hour is taken.',
        wish: 'The plan has a buffer of half a day.',
        lack: 'there is no buffer',
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
        name: 'formal address',
        rules: [
          'Use the formal address in translations.',
          'Translations say Sie, never du: the formal address.',
          'Keep to the formal address when you translate.',
        ],
        cue: /\bformal address\b/i,
        kept: 'Tragen Sie Handschuhe.',
        missed: 'Trag Handschuhe.',
        wish: 'The reader is addressed formally.',
        lack: 'the address is not formal',
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
        name: 'net and gross',
        rules: [
          'Give prices net and gross.',
          'Every price appears twice: net and gross.',
          'State both the net and the gross price.',
        ],
        cue: /\bnet\b.*\bgross\b/i,
        kept: 'Net 100, gross 119.',
        missed: 'Price: 119.',
        wish: 'Prices are given net and gross.',
        lack: 'prices are not net and gross',
        complaint: 'net and gross, both, they always ask for it',
      },
      {
        name: 'validity',
        rules: [
          'State until when an offer is valid.',
          'An offer names the day on which it expires.',
          'Write the last day of validity under each offer.',
        ],
        cue: /\bvalid(ity)?\b|\bexpires\b/i,
        kept: 'Valid until April 30.',
        missed: 'We look forward to it.',
        wish: 'The offer says until when it is valid.',
        lack: 'it does not say until when the offer is valid',
        complaint: 'until when is it valid? that has to be in there',
      },
    ],
  },
];
