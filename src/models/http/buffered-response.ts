type Head = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/**
 * As much of a `Response` as is read of one here, over a body that is all there. A real one, with its streams and its
 * headers, costs as much time as sending the request did.
 */
export function bufferedResponse({ status, statusText, headers }: Head, chunks: readonly Uint8Array[]): Response {
  const body = Buffer.concat(chunks);
  const texts = Object.entries(headers).filter((header): header is [string, string] => typeof header[1] === 'string');
  const response = {
    status,
    ok: status >= 200 && status < 300,
    statusText,
    headers: new Map(texts), // lower-case names from Node, and `get` and iteration are all that anyone uses
    body: body.length === 0 ? null : { getReader: () => bodyReader(body), cancel: async () => {} },
    text: async () => body.toString('utf8'),
  };
  return response as unknown as Response;
}

function bodyReader(body: Buffer) {
  const chunks = [body];
  return {
    async read() {
      const value = chunks.shift();
      return { done: value === undefined, value };
    },
    async cancel() {},
    releaseLock() {},
  };
}
