import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { accountedPackets, isLabAllowed } from '../../test/support/network/lab-network.ts'
import {
  createNamespaces,
  deleteNamespaces,
  ip,
  namespacesOf,
} from '../../test/support/network/namespaces.ts'
import { findProgram } from '../../test/support/programs/installed-programs.ts'
import { waitFor } from '../../test/support/world/wait.ts'

const run = promisify(execFile)
/** Ends a hang. The runs of the lab take a minute on an idle machine. */
const LAB_LIMIT_MS = 1_800_000
const PROGRAM = fileURLToPath(new URL('../netlab/main.ts', import.meta.url))

const allowed = await isLabAllowed()
const namespaceNames = () => readdir('/run/netns').catch((): string[] => [])

/** Starts the program; the process is an ended one after the test. */
function startLab(args: string[], through: string[] = []): { process: ChildProcess; output: () => string } {
  const [program = process.execPath, ...rest] = [...through, process.execPath, PROGRAM, ...args]
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'close')
    }
  })
  return { process: child, output: () => output }
}

// Without these capabilities, root is refused too.
const setpriv = findProgram('setpriv')
const drop = allowed ? [setpriv ?? '', '--bounding-set', '-sys_admin,-net_admin'] : []

test.skipIf(allowed && !setpriv)(
  'where the system allows no namespaces, the lab says so in one line and exits with 2',
  async () => {
    const lab = startLab(['--only', 'ideal'], drop)
    const [code] = await once(lab.process, 'close')
    expect(lab.output()).toMatch(/^npm run netlab needs network namespaces and \/dev\/net\/tun, .*\n$/)
    expect(code).toBe(2)
  },
)

test('wrong arguments are refused with a message', async () => {
  const lab = startLab(['--only', 'moon'])
  const [code] = await once(lab.process, 'close')
  expect(lab.output()).toContain('--only must be one of ideal, lte')
  expect(code).toBe(1)
})

describe.runIf(allowed)('where the system allows namespaces', () => {
  test('the lab measures every transport on every chosen profile, and leaves no namespace', {
    timeout: LAB_LIMIT_MS,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-netlab-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'lab.json')
    const chosen = ['--only', 'ideal', '--only', 'starlink']
    const lab = startLab([...chosen, '--seconds', '4', '--pairs', '2', '--json', file])
    const [code] = await once(lab.process, 'close')
    expect(lab.output()).toContain('commands executed when older than their ttl')
    expect(code).toBe(0)

    const { measured } = JSON.parse(await readFile(file, 'utf8'))
    expect(measured.map(({ profile }: { profile: { name: string } }) => profile.name)).toEqual([
      'ideal',
      'starlink',
    ])
    for (const { profile, results } of measured) {
      expect(results.map(({ transport }: { transport: string }) => transport)).toEqual([
        'Wheelhouse',
        'Wheelhouse over WebSockets',
        'ws',
        'rosbridge',
        'Socket.IO',
      ])
      for (const { figures, sent, link } of results) {
        expect(figures.commandsPerS).toBeGreaterThan(0)
        expect(sent).toBeGreaterThan(0)
        expect(link.a_to_b.outages_ms).toHaveLength(profile.name === 'starlink' ? 1 : 0)
        for (const way of [link.a_to_b, link.b_to_a]) expect(accountedPackets(way)).toBe(way.received)
      }
    }
    const own = namespacesOf(lab.process.pid ?? 0)
    expect(await namespaceNames()).not.toEqual(expect.arrayContaining([own.site]))
  })

  test.each([
    { signal: 'SIGINT', moment: 'at the start', begun: () => true },
    {
      signal: 'SIGTERM',
      moment: 'when the network is complete',
      begun: (output: string) => output.includes('Linux'),
    },
  ] as const)('$signal $moment ends the lab and deletes its namespaces', async ({ signal, begun }) => {
    const lab = startLab(['--only', 'ideal'])
    const { site, operators, robots } = namespacesOf(lab.process.pid ?? 0)
    await waitFor(async () => expect(await namespaceNames()).toContain(site))
    await waitFor(() => expect(begun(lab.output())).toBe(true))
    lab.process.kill(signal)
    const [code] = await once(lab.process, 'close')
    expect(code).toBe(130)
    for (const name of [site, operators, robots]) expect(await namespaceNames()).not.toContain(name)
  })

  test('a run deletes the namespaces of ended runs only', async () => {
    const { pid: endedPid } = await run(process.execPath, ['-p', 'process.pid']).then(({ stdout }) => ({
      pid: Number(stdout),
    }))
    const foreign = `other-lab-${process.pid}-site`
    await ip('netns', 'add', foreign)
    onTestFinished(() => ip('netns', 'delete', foreign))
    onTestFinished(() => deleteNamespaces(process.pid))
    const running = await createNamespaces(process.pid)
    const ended = await createNamespaces(endedPid)
    expect(await namespaceNames()).toEqual(expect.arrayContaining(Object.values(ended)))

    // A further run begins; here one without a process, which is not necessary before its first step.
    onTestFinished(() => deleteNamespaces(process.ppid))
    await createNamespaces(process.ppid)
    const names = await namespaceNames()
    expect(names).toEqual(expect.arrayContaining([...Object.values(running), foreign]))
    for (const name of Object.values(ended)) expect(names).not.toContain(name)
  })
})
