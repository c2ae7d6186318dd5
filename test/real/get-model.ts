import { execa } from 'execa';

/** The path of the model file, or why there is none on this machine. */
export type LocalModelFile = { readonly path: string; readonly missing?: never } | { readonly missing: string };

/** Assembled by the project's script into `.cache/local-model`, at the first time. */
export async function getModel(): Promise<LocalModelFile> {
  try {
    const { stdout } = await execa(process.execPath, ['scripts/get-local-model.mjs'], { timeout: 1_200_000 });
    return { path: stdout.split('\n').at(-1)! };
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return { missing: (stderr.trim() || message).split('\n').join(' ').slice(0, 400) };
  }
}
