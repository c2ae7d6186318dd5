import { SECRET } from './secret-value.ts';

/** Digits as on a card, in groups or without, that begin like one of the great networks. */
const CARD =
  /(?<![\w.:/-])(?:3[04678]|4\d|5[1-5]|6[0245]|2[2-7])\d{2}(?:[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}(?:[ -]?\d{3})?|[ -]?\d{6}[ -]?\d{4,5})(?![\w-]|\.\d)/g;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;

/** Numbers of cards and accounts, known by their check digits. */
export function hidePaymentNumbers(text: string): string {
  return text
    .replace(CARD, (found) => (hasLuhn(found.replace(/[ -]/g, '')) ? SECRET : found))
    .replace(IBAN, (found) => (hasMod97(found.replaceAll(' ', '')) ? SECRET : found));
}

function hasLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0 && new Set(digits).size > 1;
}

/** Letters count from 10 on, and the first four places come last. */
function hasMod97(account: string): boolean {
  if (account.length < 15 || account.length > 34) return false;
  const digits = (account.slice(4) + account.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}
