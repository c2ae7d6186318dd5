import { crc32, deflateRawSync } from 'node:zlib';

/** A cell: a value, or parts of its XML. A formula has a stored value only if it is given. */
type Cell = number | string | boolean | null | { readonly formula: string; readonly value?: number } | Formatted;
/** A number with a format: 1 is a day, 2 a time of day, 3 a duration. */
type Formatted = { readonly serial: number; readonly style: 1 | 2 | 3 };

type SheetParts = {
  readonly name: string;
  /** From A1. */
  readonly rows: readonly (readonly Cell[])[];
  /** `A1:B2` … */
  readonly merged?: readonly string[];
  /** In place of all that. */
  readonly xml?: string;
};

/** The smallest workbook that Excel, openpyxl and SheetJS read. */
export function workbookFile(sheets: readonly SheetParts[], { from1904 = false } = {}): Buffer {
  const ids = sheets.map((_, index) => index + 1);
  const hasStyles = sheets.some(({ rows }) =>
    rows.flat().some((cell) => typeof cell === 'object' && cell && 'style' in cell),
  );
  const styleType =
    '<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>';
  return zipFile({
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>${ids.map((id) => `<Override PartName="/xl/worksheets/sheet${id}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`).join('')}${hasStyles ? styleType : ''}</Types>`,
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATED}">${from1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${sheets.map(({ name }, index) => `<sheet name="${escaped(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${ids.map((id) => `<Relationship Id="rId${id}" Type="${RELATED}/worksheet" Target="worksheets/sheet${id}.xml"/>`).join('')}${hasStyles ? `<Relationship Id="rId99" Type="${RELATED}/styles" Target="styles.xml"/>` : ''}</Relationships>`,
    ...(hasStyles ? { 'xl/styles.xml': STYLES } : {}),
    ...Object.fromEntries(sheets.map((sheet, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetXml(sheet)])),
  });
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATED = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STYLES = `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="[h]:mm:ss"/></numFmts><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="164"/><xf numFmtId="21"/><xf numFmtId="165"/></cellXfs></styleSheet>`;

function sheetXml({ rows, merged = [], xml }: SheetParts): string {
  if (xml !== undefined) return xml;
  const lines = rows.map((cells, row) => {
    const filled = cells.flatMap((cell, column) =>
      cell === null ? [] : [cellXml(cell, `${letters(column)}${row + 1}`)],
    );
    return filled.length === 0 ? '' : `<row r="${row + 1}">${filled.join('')}</row>`;
  });
  const merges =
    merged.length === 0 ? '' : `<mergeCells>${merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`;
  return `<worksheet xmlns="${MAIN}"><sheetData>${lines.join('')}</sheetData>${merges}</worksheet>`;
}

function cellXml(cell: Exclude<Cell, null>, at: string): string {
  if (typeof cell === 'number') return `<c r="${at}"><v>${cell}</v></c>`;
  if (typeof cell === 'boolean') return `<c r="${at}" t="b"><v>${Number(cell)}</v></c>`;
  if (typeof cell === 'string' && /^#[A-Z/0!]+[!?A]$/.test(cell)) return `<c r="${at}" t="e"><v>${cell}</v></c>`;
  if (typeof cell === 'string')
    return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`;
  if ('serial' in cell) return `<c r="${at}" s="${cell.style}"><v>${cell.serial}</v></c>`;
  return `<c r="${at}"><f>${escaped(cell.formula)}</f><v>${cell.value ?? ''}</v></c>`;
}

const letters = (column: number): string =>
  (column >= 26 ? letters(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** A zip file. `claimed` are sizes that the file says its parts have unpacked. */
export function zipFile(
  parts: Readonly<Record<string, string | Buffer>>,
  claimed: Readonly<Record<string, number>> = {},
): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(parts)) {
    const content = Buffer.from(text as string);
    const packed = deflateRawSync(content, { level: 9 });
    const title = Buffer.from(name);
    const sizes = Buffer.alloc(26);
    sizes.writeUInt16LE(20, 0);
    sizes.writeUInt16LE(8, 4);
    sizes.writeUInt32LE(33 << 16, 6); // the first day that a zip file can tell
    sizes.writeUInt32LE(crc32(content), 10);
    sizes.writeUInt32LE(packed.length, 14);
    sizes.writeUInt32LE(claimed[name] ?? content.length, 18);
    sizes.writeUInt16LE(title.length, 22);
    const entry = Buffer.alloc(46);
    entry.write('PK\x01\x02', 0, 'latin1');
    entry.writeUInt16LE(20, 4);
    sizes.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), sizes, title, packed);
    directory.push(entry, title);
    offset += 30 + title.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(directory.length / 2, 8);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, list, end]);
}
