import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const LAUNCHER = fileURLToPath(new URL('run.mjs', import.meta.url))

/** An older Node cannot replace a process; there the launcher stays as the parent of the program. */
const WITHOUT_EXECVE = ['--import', 'data:text/javascript,delete process.execve']

describe.each([
  ['as a replacement of the launcher', []],
  ['as a child of the launcher', WITHOUT_EXECVE],
])('a program that runs %s', (_, nodeOptions) => {
  const launch = (...words: string[]) =>
    spawn(process.execPath, [...nodeOptions, LAUNCHER, ...words], { stdio: ['pipe', 'pipe', 'inherit'] })

  test('gets its arguments unchanged, also those that look like options of the launcher', async () => {
    const program = launch('node', '-p', 'JSON.stringify(process.argv.slice(1))', 'a b', '--console', '"$x"')
    expect(JSON.parse(await outputOf(program))).toEqual(['a b', '--console', '"$x"'])
  })

  test('decides the exit code', async () => {
    const program = launch('node', '-e', 'process.exit(3)')
    expect(await once(program, 'exit')).toEqual([3, null])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('receives %s and ends in order', async (signal) => {
    const ending = `process.on('${signal}', () => process.exit(7)); setInterval(() => {}, 1000); console.log('ready')`
    const program = launch('node', '-e', ending)
    await once(program.stdout, 'data')
    program.kill(signal)
    expect(await once(program, 'exit')).toEqual([7, null])
  })

  test('passes the signal that ended it to the caller', async () => {
    const program = launch('node', '-e', "process.kill(process.pid, 'SIGKILL')")
    expect(await once(program, 'exit')).toEqual([null, 'SIGKILL'])
  })

  test('reads the standard input of the launcher', async () => {
    const program = launch('node', '-e', 'process.stdin.pipe(process.stdout)')
    program.stdin.end('hello')
    expect(await outputOf(program)).toBe('hello')
  })

  test('can be the program of a package', async () => {
    expect(await outputOf(launch('vitest', '--version'))).toMatch(/^vitest\/\d/)
  })
})

test('without a program the launcher only prepares the installation', async () => {
  const program = spawn(process.execPath, [LAUNCHER])
  expect(await once(program, 'exit')).toEqual([0, null])
})

test('a preparation that fails ends the launcher before the program', async () => {
  const program = spawn(process.execPath, [LAUNCHER, '--no-such-step', 'node', '-p', '1'])
  expect(await outputOf(program)).toBe('')
  expect(program.exitCode).not.toBe(0)
})

async function outputOf(program: ChildProcess): Promise<string> {
  if (!program.stdout) throw new Error('The program has no standard output.')
  const exited = once(program, 'exit')
  const output = await text(program.stdout)
  await exited
  return output
}
