import type { Command } from 'commander'
import { afterAll, describe, expect, test } from 'vitest'
import { commandsOf, declaredProgram } from '../../support/cli/command-coverage.ts'
import { startInProcess } from '../../support/cli/in-process.ts'
import { type CliUser, createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'

afterAll(endCommands)

const ID = '00000000-0000-4000-8000-000000000000'
/** Values of arguments that are not ids. */
const VALUES: Readonly<Record<string, string>> = {
  name: 'Name',
  minutes: '5',
  stars: '5',
  time: '+2h',
  url: 'https://robots.example.com/hook',
  role: 'operator',
  group: 'money',
  channel: 'mail',
  state: 'off',
  hours: '22:00-07:00',
  language: 'de',
}
/** Optional arguments that a command needs in order to send a request. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  'robots register': ['--type', 'testbot', '--hardware-id', 'board'],
  'admin users suspend': ['--reason', 'Unsafe driving'],
  'admin certifications reject': ['--reason', 'No proof'],
  'admin certifications revoke': ['--reason', 'Expired'],
  'robots update': ['--notes', 'New gripper'],
  'admin robot-models update': ['--control-schema', ''],
  'datasets export': ['--name', 'cups', '--fps', '30', '--episodes', ID],
  'datasets download-export': ['--output', 'cups'],
  'webhooks update': ['--enable'],
  'webhooks replay': [ID],
  chat: ['Hello'],
}
/** Commands that send no requests. */
const LOCAL = [
  'complete',
  'conformance operator',
  'conformance robot',
  'logout',
  'profiles list',
  'profiles use',
]
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
}

function argumentsOf(path: string, command: Command): string[] {
  const given = command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => VALUES[argument.name()] ?? ID)
  return [...path.split(' '), ...given, ...(MORE[path] ?? []), '--yes', '--json']
}

/** One command of each family runs as a process, with a real signal. The others run in this process. */
const PROCESSES = [...commandsOf(declaredProgram).keys()].filter(
  (path, index, paths) => index === paths.findIndex((each) => each.split(' ')[0] === path.split(' ')[0]),
)

function start(path: string, user: CliUser, args: string[]) {
  if (!PROCESSES.includes(path)) return startInProcess(user, args)
  const running = startCli(user, args)
  return { ...running, stdin: running.child.stdin }
}

/** Runs a command against a platform that never responds. Settles when it has ended or has sent a request. */
async function calledInSilence(path: string, command: Command) {
  const asked = Promise.withResolvers<void>()
  let isRequested = false
  const silent = await listening(() => {
    isRequested = true
    asked.resolve()
  })
  const user = await createCliUser({ WHEELHOUSE_URL: silent.url, WHEELHOUSE_API_KEY: 'svc_live_some' })
  const running = start(path, user, argumentsOf(path, command))
  if (path === 'mcp') running.stdin?.write(`${JSON.stringify(initialize)}\n`)
  await Promise.race([asked.promise, running.ended])
  return { running, isRequested, [Symbol.asyncDispose]: () => silent[Symbol.asyncDispose]() }
}

describe.concurrent('Ctrl-C while the platform keeps silent', () => {
  const commands = [...commandsOf(declaredProgram)]

  test.each(commands.filter(([path]) => !LOCAL.includes(path)))(
    'ends wheelhouse %s',
    async (path, command) => {
      await using silence = await calledInSilence(path, command)
      const { running, isRequested } = silence
      expect(isRequested, running.stderr()).toBe(true)
      running.signal('SIGINT')
      const { code, stdout, stderr } = await running.ended
      expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
      const lines = stderr.trimEnd().split('\n')
      expect(JSON.parse(lines.at(-1) as string)).toEqual({ error: expect.any(String), code: 'interrupted' })
    },
  )

  test.each(commands.filter(([path]) => LOCAL.includes(path)))(
    'wheelhouse %s ends by itself without a request',
    async (path, command) => {
      await using silence = await calledInSilence(path, command)
      expect([silence.isRequested, await silence.running.ended]).toMatchObject([
        false,
        { code: expect.any(Number) },
      ])
    },
  )
})
