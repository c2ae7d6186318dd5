const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]));

/** How many digits tell so many things apart. */
export function digitsFor(count: number): number {
  let width = 1;
  while (DIGITS.length ** width < count) width += 1;
  return width;
}

/** Numbers from 0 on as digits of base 64, each of the same width. */
export function toDigits(numbers: readonly number[], width: number): string {
  let text = '';
  for (const number of numbers) {
    for (let place = DIGITS.length ** (width - 1); place >= 1; place /= DIGITS.length) {
      text += DIGITS[Math.floor(number / place) % DIGITS.length];
    }
  }
  return text;
}

/** `NaN` for what are no digits. */
export function fromDigits(text: string, width: number): number[] {
  const numbers: number[] = [];
  for (let start = 0; start < text.length; start += width) {
    let number = 0;
    for (let place = start; place < start + width; place += 1) {
      number = number * DIGITS.length + (VALUES.get(text.charCodeAt(place)) ?? Number.NaN);
    }
    numbers.push(number);
  }
  return numbers;
}
