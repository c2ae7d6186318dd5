import { credentialWords, LETTER, PASSWORD_WORDS } from './credential-names.ts';
import { lowered, type Rule } from './rule.ts';
import { hidesBehind, hideValues } from './secret-value.ts';

/** «secret, …». */
const LISTED = `(?:${PASSWORD_WORDS}|secret|token|pwd?|creds?|credentials),`;
/** «pass: …», «the pass for the mail server is …». */
const PASS = 'pass(?:[ \\t]{1,4}for[ \\t][^\\n.!?;,:"\'`]{1,30})?(?:[ \\t]{1,4}(?:is|was|=|->|ist)|[ \\t]{0,4}[:=])';
/** «smtp pass …». */
const PASS_OF =
  'pass(?<=(?:db|database|admin|root|smtp|imap|e?mail|ssh|sudo|login|ftp|sftp|proxy|redis|mysql|postgres|mongo|wi-?fi|wlan|ldap|vnc|rdp)[ \\t_-]pass)';
/** «WPA key is …». */
const KEY_OF =
  'key(?<=(?:wpa[23]?|wi-?fi|wlan|network|security|master|encryption|recovery|licen[cs]e|product|pre-?shared)[ \\t_-]key)(?:[ \\t]{1,4}(?:is|was|=|->|ist|lautet)|[ \\t]{0,4}[:=])?';
const VALUE = '[ \\t]{1,4}(?=[^\\s"\'`“„«「[({<])';
const LEAD = `(?:${LISTED}|${PASS}|${PASS_OF}|${KEY_OF})${VALUE}`;
/** «admin / …». */
const LOGIN = `(?:admin|administrator|root|login|user|username|guest|demo)[ \\t]{1,3}/${VALUE}`;

const [ALL_LEADS, LEAD_HERE, ALL_LOGINS, ANY_LOGIN] = [
  new RegExp(LEAD, 'g'),
  new RegExp(LEAD, 'y'),
  new RegExp(LOGIN, 'g'),
  new RegExp(LOGIN),
];
const INSIDE = new RegExp(`[${LETTER}./-]$`);

/** Words that often mean something else: «a second pass». So only a value that looks chosen, or thrown by dice, is hidden. */
export const heardValues: Rule = {
  may: (text) =>
    hidesBehind(text, LEAD_HERE, judge, { places: credentialWords(text), searched: lowered(text) }) ||
    (text.includes(' / ') && ANY_LOGIN.test(lowered(text))),
  hide(text) {
    const heard = hideValues(text, ALL_LEADS, judge, lowered(text));
    return hideValues(heard, ALL_LOGINS, judge, lowered(heard));
  },
};

const judge = ({ input, index }: RegExpExecArray) =>
  index > 0 && INSIDE.test(input[index - 1]!) ? undefined : ({ credential: 'heard' } as const);
