import { redactSecrets } from '../../core/guard/index.ts';
import type { Place } from '../transcript-source.ts';
import { abbreviateHomes, isNobody } from './personal-paths.ts';
import { hideEmails, hideNames } from './personal-words.ts';

const USER = '[user]';
const HOST = '[host]';

/** Where this process runs, and what the machine is called if that is known. */
export type RedactorPlace = Pick<Place, 'env' | 'home'> & { readonly host?: string };

/**
 * What is done to every text of a transcript before it is stored, shown or sent: no secret, no home but `~`, no name of whose
 * home it is, no address of a person. Takes any text and changes nothing when it is called again.
 */
export function redactor(place: RedactorPlace): (text: string) => string {
  const home = ownHome(place.home);
  const own = ownNames(place);
  return (text) => {
    const homes = abbreviateHomes(home ? text.replace(home, '~') : text);
    const names = new Map([
      ...own,
      ...homes.names.filter(isTelling).map((name) => [name.toLowerCase(), USER] as const),
    ]);
    return hideNames(hideEmails(redactSecrets(homes.text)), names);
  };
}

/** The home of this user in every spelling of a path. */
function ownHome(home: string): RegExp | undefined {
  const parts = home.split(/[\\/]+/).filter(Boolean);
  if (parts.length === 0) return undefined;
  const slash = String.raw`(?:\\{0,4}/|\\{1,8}|%2[Ff]|%5[Cc])`;
  const path = parts
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:$/, '(?::|%3[Aa])'))
    .join(slash);
  const lead = /^[\\/]/.test(home) ? slash : '';
  return new RegExp(String.raw`(?<![\w.~@-])${lead}${path}(?![\w.-]*[\w-])`, 'g');
}

function ownNames({ env, home, host }: RedactorPlace): ReadonlyMap<string, string> {
  const users = [home.split(/[\\/]+/).at(-1), env.USER, env.LOGNAME, env.USERNAME];
  const hosts = [host, env.HOSTNAME, env.COMPUTERNAME];
  const marked = (names: readonly (string | undefined)[], mark: string) =>
    names.filter((name) => name !== undefined && isTelling(name)).map((name) => [name!.toLowerCase(), mark] as const);
  return new Map([...marked(hosts, HOST), ...marked(users, USER)]);
}

/** Short names, and names that nobody in particular has, are words of the text. */
const isTelling = (name: string) =>
  name.length >= 3 && !isNobody(name) && !/^(?:local(?:host)?|macbook|desktop|laptop|server)$/i.test(name);
