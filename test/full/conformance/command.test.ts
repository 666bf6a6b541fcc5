import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { badge, createReport, junit } from '../../../packages/cli/conformance/report.ts'
import type { Verdict } from '../../../packages/cli/conformance/rule.ts'
import { cliProcess, createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { robotPrograms } from '../../support/conformance/robot-programs.ts'
import { python } from '../../support/programs/external-programs.ts'
import { waitFor } from '../../support/world/wait.ts'

// Runs `wheelhouse conformance` as a program, and reads its reports.

afterAll(endCommands)
const wrongRobot = fileURLToPath(new URL('../../support/conformance/wrong-robot.ts', import.meta.url))

const READ_XML = `
import json, sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
print(json.dumps({'tag': root.tag, **root.attrib, 'tags': [item.tag for item in root.iter()]}))`

/** Returns the root of a document as another parser reads it. @throws Error if the document is not well-formed */
async function readXml(text: string): Promise<Record<string, unknown>> {
  const reading = promisify(execFile)(await python(['xml.etree.ElementTree']), ['-c', READ_XML])
  reading.child.stdin?.end(text)
  return JSON.parse((await reading).stdout)
}

/** Returns whether a process with this command line runs. */
const runs = async (text: string) =>
  (await promisify(execFile)('ps', ['-eo', 'args'])).stdout.split('\n').some((line) => line.trim() === text)

test('exits with 0 for a robot that keeps the rules, and with 1 for another; writes JSON, JUnit and a badge', async () => {
  const user = await createCliUser()
  const command = await robotPrograms['examples/node/robot.js']!.command()
  const only = ['--only', 'connects,moves,clutch']
  const kept = await cliProcess(user, ['conformance', 'robot', ...only, '--json', '--', ...command])
  expect(kept.code, kept.stderr).toBe(0)
  expect(kept.json).toMatchObject({ subject: 'robot', passed: 2, failed: 0, not_tested: 1 })

  const [report, picture] = ['report.xml', 'badge.svg'].map((name) => join(user.configHome, name)) as [
    string,
    string,
  ]
  const wrong = await cliProcess(await createCliUser({ MISTAKE: 'obeys expired commands' }), [
    'conformance',
    'robot',
    '--only',
    'moves,expired',
    '--junit',
    report,
    '--badge',
    picture,
    '--',
    process.execPath,
    wrongRobot,
  ])
  expect(wrong.code, wrong.stderr).toBe(1)
  expect(wrong.stdout).toMatch(/expired +FAIL +it moved/)
  expect(wrong.stdout).toContain('1 passed, 1 failed, 0 not tested')
  expect(await readXml(await readFile(report, 'utf8'))).toMatchObject({
    tag: 'testsuites',
    tests: '2',
    failures: '1',
  })
  expect(await readFile(picture, 'utf8')).toContain('1 of 2 rules failed')
})

test('says why a robot does not connect, and ends it with all that it has started', async () => {
  const user = await createCliUser()
  const mark = `sleep 98${process.pid}`
  const robot = ['sh', '-c', `trap '' TERM; yes | head -c 3000000; echo no battery; ${mark} & wait; ${mark}`]
  const { code, stdout } = await cliProcess(user, [
    'conformance',
    'robot',
    '--timeout',
    '1',
    '--only',
    'connects,moves',
    '--',
    ...robot,
  ])
  expect(code).toBe(1)
  expect(stdout).toContain('the robot did not connect within 1 s; it printed: y | y | no battery')
  await waitFor(async () => expect(await runs(mark)).toBe(false))
})

test('refuses a command that cannot be started, a rule that does not exist, and no command', async () => {
  const user = await createCliUser()
  for (const [args, message] of [
    [['robot', '--', '/no/such/robot'], 'cannot be started'],
    [['robot', '--only', 'speed', '--', 'true'], 'There is no rule speed'],
    [['robot'], 'Set the command that starts the robot after --'],
    [['operator'], 'Set the command that starts the operator after --'],
  ] as const) {
    const { code, stderr } = await cliProcess(user, ['conformance', ...args])
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  }
})

test('waits for a robot that a person starts', async () => {
  const user = await createCliUser()
  const kit = startCli(user, ['conformance', 'robot', '--url-only', '--timeout', '600', '--only', 'moves'])
  const [, url, token] = /CONTROL_URL=(\S+)[\s\S]*ROBOT_TOKEN=(\S+)/.exec(
    await kit.expectText(/ROBOT_TOKEN=\S+/, 'stderr'),
  ) as RegExpExecArray
  const robot = execFile(process.execPath, [wrongRobot], { env: { CONTROL_URL: url, ROBOT_TOKEN: token } })
  expect((await kit.ended).code).toBe(0)
  robot.kill('SIGKILL')
})

test('Ctrl-C ends the kit and the robot', async () => {
  const mark = `sleep 97${process.pid}`
  const kit = startCli(await createCliUser(), [
    'conformance',
    'robot',
    '--timeout',
    '600',
    '--',
    'sh',
    '-c',
    `${mark}; true`,
  ])
  await waitFor(async () => expect(await runs(mark)).toBe(true))
  kit.signal('SIGINT')
  expect((await kit.ended).code).toBe(130)
  expect(await runs(mark)).toBe(false)
})

test('reports are well-formed whatever a robot prints', async () => {
  const hostile = '<&">\u0000\u001b\ud800]]>'
  const rules: Verdict[] = [
    {
      id: 'a',
      title: hostile,
      duty: hostile,
      duration_ms: 1,
      outcome: 'failed',
      measured: hostile,
      limit: '',
    },
    { id: 'b', title: 'b', duty: '', duration_ms: 1, outcome: 'not tested', reason: hostile },
    { id: 'c', title: 'c', duty: '', duration_ms: 1, outcome: 'passed', measured: hostile, limit: hostile },
  ]
  const report = createReport('robot', '1', rules)
  const { tags } = await readXml(junit(report))
  expect(tags).toEqual([
    'testsuites',
    'testsuite',
    'testcase',
    'failure',
    'testcase',
    'skipped',
    'testcase',
    'system-out',
  ])
  expect(await readXml(badge(report))).toMatchObject({ role: 'img' })
})
