/** Why a file of a project is not in a copy of it. */
export type KeptBack = 'secret' | 'too large' | 'leads out of the folder' | 'another repository' | 'no plain file';

/** Names of files that usually hold keys or passwords. */
const SECRET_NAMES = [
  /^\.env(?:\.(?!(?:example|sample|template|dist|defaults)$).*)?$/i,
  /^.+\.env$/i,
  /\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfstate|tfvars)(?:\.backup)?$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?!.*\.pub$)/i,
  /^\.(?:npmrc|pypirc|netrc|pgpass|htpasswd|git-credentials|dockercfg|vault-token)$/i,
  /^(?:credentials|service[-_]account.*|client_secret.*)\.json$/i,
  /^secrets?\.(?:json|ya?ml|toml|ini|env|properties)$/i,
];
const SECRET_FOLDERS = new Set(['.ssh', '.aws', '.gnupg', '.azure', '.kube']);

/** Whether a path of a project looks like a secret by its name. */
export function isSecretPath(path: string): boolean {
  const names = path.split('/');
  return names.some((name) => SECRET_FOLDERS.has(name)) || SECRET_NAMES.some((pattern) => pattern.test(names.at(-1)!));
}

/** Whatever it is called. */
export const holdsPrivateKey = (bytes: Uint8Array) =>
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(Buffer.from(bytes.subarray(0, 4_096)).toString('latin1'));

/** Folders that programs fill, and can fill again. */
export const isFilledByPrograms = (name: string) =>
  /^(?:\.git|\.hg|\.svn|node_modules|\.venv|venv|__pycache__|\.cache|\.tox|\.gradle|\.(?:mypy|pytest|ruff)_cache)$/.test(
    name,
  );
