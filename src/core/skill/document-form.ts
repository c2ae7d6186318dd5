import { frontmatterEnd } from './protected-regions.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** A trained text in the form of the document that it takes the place of: its byte order mark, frontmatter and line endings. */
export function keepForm(text: string, document: string): string {
  const mark = document.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const [own, body] = [document, text].map((whole) => whole.replace(/^\uFEFF/, '')) as [string, string];
  const head = own.slice(0, frontmatterEnd(own));
  const start = frontmatterEnd(body);
  const whole = head === '' ? body : `${head}${start === 0 ? '\n' : ''}${body.slice(start)}`;
  return mark + keepLineEnds(whole, own);
}

/** A text with the line ends of a document, where that has one kind. */
export const keepLineEnds = (text: string, document: string) =>
  hasOnlyCrlf(document) ? text.replace(/\r?\n/g, '\r\n') : text;

/** A document with both kinds has no form to keep. */
const hasOnlyCrlf = (text: string) => text.includes('\r\n') && !/(?<!\r)\n/.test(text);

/** A text without the line endings of its document, to be compared: nobody sees them. */
export const withLineFeeds = (text: string) => text.replace(/\r\n/g, '\n');

/**
 * A document as it is trained and asked with. Models write line feeds, and what they quote is found in such a text alone;
 * `keepForm` gives a document its own line endings back.
 */
export const trainedForm = (text: string) => (hasOnlyCrlf(text) ? withLineFeeds(text) : text);
