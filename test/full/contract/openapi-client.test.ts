import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const folder = fileURLToPath(new URL('../../support/openapi-client', import.meta.url))
const generated = join(folder, 'generated')
const { resolve } = createRequire(join(folder, 'package.json'))

/** Runs a Node program in the client's folder and returns its output; throws with the output when it fails. */
async function run(program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd: folder })
    return stdout
  } catch (cause) {
    const { stdout, stderr } = cause as { stdout: string; stderr: string }
    throw new Error(`${program} failed: ${stdout}${stderr}`, { cause })
  }
}

test('a client generated from the served description type-checks and completes a session', async () => {
  await using world = await createWorld()
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  await certify(world, operator)
  ;(await world.connect(robot)).beat()

  try {
    await mkdir(generated, { recursive: true })
    const description = await fetch(`${world.baseUrl}/api/openapi.json`)
    await writeFile(join(generated, 'openapi.json'), await description.text())
    const generator = join(dirname(resolve('openapi-typescript/package.json')), 'bin/cli.js')
    await run(generator, 'generated/openapi.json', '--output', 'generated/api.d.ts')
    await run(resolve('typescript/bin/tsc'), '--project', folder)

    const keys = [(await operator.key()).key, (await owner.key()).key]
    const seen = JSON.parse(await run('main-flow.ts', world.baseUrl, ...keys))
    expect(seen).toEqual({
      started: 'ACTIVE',
      messages: [['operator', 'Hello']],
      ended: ['COMPLETED', 'ended', 'hidden'],
      refusal: [404, 'Robot not found'],
    })
  } finally {
    await rm(generated, { recursive: true, force: true })
  }
})

async function certify(world: World, operator: TestUser): Promise<void> {
  const admin = await world.admin()
  const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'testbot' })).body
  expect((await admin.post(`/api/admin/certifications/${id}/approve`)).status).toBe(200)
}
