import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import { isObject } from '../../core/text/index.ts';
import { type Row, tasksInvalid } from '../../imports/index.ts';

/** An image inside a Parquet file, which is read when it is asked for: a file holds more than fits into memory. */
export type PackedImage = { readonly read: () => Promise<Uint8Array> };

export const isPackedImage = (value: unknown): value is PackedImage =>
  isObject(value) && typeof value.read === 'function';

/** Files of upstream hold a hundred rows a group. */
const MOST_BYTES_PER_GROUP = 1_000_000_000;
const IMAGE = 'image';

type PackedFile = { readonly file: AsyncBuffer; readonly metadata: FileMetaData; readonly path: string };

/** The rows of a Parquet file. Their images stay packed. */
export async function packedRows(path: string): Promise<Row[]> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } = await import('hyparquet');
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    const columns = names.filter((name) => name !== IMAGE);
    const values = await readColumns({ file, metadata, path }, { columns });
    const images = names.includes(IMAGE) ? packedImages({ file, metadata, path }) : [];
    return values.map((value, index) => {
      const image = images[index];
      return { value: image ? { ...value, image } : value, where: `${path}: row ${index + 1}` };
    });
  } catch (error) {
    const problem = `${path}: expected Parquet: ${(error as Error).message}`;
    throw tasksInvalid([problem], 'Get the file again: a download may have been cut short.', error);
  }
}

type Range = { readonly columns: string[]; readonly rowStart?: number; readonly rowEnd?: number };

async function readColumns({ file, metadata }: PackedFile, range: Range) {
  const [{ parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  const utf8 = !range.columns.includes(IMAGE); // bytes without a type would become text
  return parquetReadObjects({ file, metadata, compressors, utf8, ...range });
}

/** Rows are read one after the other, so the images of one group are held. */
function packedImages(packed: PackedFile): PackedImage[] {
  let held: { readonly group: number; readonly images: Promise<unknown[]> } | undefined;
  const inGroup = (group: number, rowStart: number) => {
    if (held?.group !== group) held = { group, images: readGroup(packed, group, rowStart) };
    return held.images;
  };
  let rowStart = 0;
  return packed.metadata.row_groups.flatMap(({ num_rows: rows }, group) => {
    const first = rowStart;
    rowStart += Number(rows);
    return Array.from({ length: Number(rows) }, (_, index) => ({
      read: async () => bytesIn((await inGroup(group, first))[index]),
    }));
  });
}

async function readGroup(packed: PackedFile, group: number, rowStart: number): Promise<unknown[]> {
  const { columns, num_rows: rows } = packed.metadata.row_groups[group]!;
  const ofImages = columns.filter(({ meta_data: about }) => about?.path_in_schema[0] === IMAGE);
  const size = ofImages.reduce((sum, { meta_data: about }) => sum + Number(about!.total_uncompressed_size), 0);
  if (size > MOST_BYTES_PER_GROUP)
    throw new Error(
      `group ${group + 1} of ${packed.path} holds ${size} bytes of images, more than can be read at once`,
    );
  const read = await readColumns(packed, { columns: [IMAGE], rowStart, rowEnd: rowStart + Number(rows) });
  return read.map((row) => row[IMAGE]);
}

function bytesIn(image: unknown): Uint8Array {
  const bytes = isObject(image) ? image.bytes : image;
  if (bytes instanceof Uint8Array) return bytes;
  throw new Error('the row has no image');
}
