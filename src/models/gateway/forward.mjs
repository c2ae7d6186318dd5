// node forward.mjs SOCKET PORT -- PROGRAM ARGUMENT…
// Makes a unix socket a port on loopback for a program, in a sandbox that has no other network. Ends as the program does.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const [socket, port, dashes, program, ...args] = process.argv.slice(2);
if (program === undefined || dashes !== '--') {
  process.stderr.write('usage: node forward.mjs SOCKET PORT -- PROGRAM ARGUMENT…\n');
  process.exit(64);
}

/** What one side ends or breaks off, the other does too. */
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: socket, allowHalfOpen: true });
  near.on('error', () => far.destroy());
  far.on('error', () => near.resetAndDestroy());
  near.on('close', () => far.destroy());
  near.pipe(far);
  far.pipe(near);
});

server.on('error', ({ message }) => {
  process.stderr.write(`forward: cannot listen on port ${port}: ${message}\n`);
  process.exit(71);
});

server.listen(Number(port), '127.0.0.1', () => {
  // An empty connection says outside that this process listens: its own exit codes are then those of the program.
  const greeting = connect({ path: socket }, () => greeting.end());
  greeting
    .on('error', () => {})
    .on('close', start)
    .resume();
});

function start() {
  let child; // signals are listened for before it starts: one in between would end this process alone
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal));
  }
  child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', ({ message, code }) => {
    process.stderr.write(`forward: cannot start ${program}: ${message}\n`);
    process.exit(code === 'ENOENT' ? 127 : 126);
  });
  // As shells tell of a signal: what waits for this process need not know that there is another below it.
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
