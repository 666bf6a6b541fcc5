import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { declaredEndpoints, STORED_BASE_URL } from '../../../src/roles/api/declared-endpoints.ts'
import { describeApi, type OpenApiDocument } from '../../../src/roles/api/openapi/document.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const document = describeApi({ endpoints: declaredEndpoints(), baseUrl: STORED_BASE_URL })

describe('a public linter', () => {
  test('finds nothing to complain about', async () => {
    expect(await lint(document)).toEqual([])
  })

  test('would find an invalid example', async () => {
    const broken = structuredClone(document)
    const { requestBody } = broken.paths!['/api/sessions']!.post!
    const { content } = requestBody as { content: Record<string, { example: unknown }> }
    content['application/json']!.example = { robotId: 7 }
    expect(await lint(broken)).toContain('no-invalid-media-type-examples')
  })

  /** Returns the names of the rules that a document violates. Uses no network. */
  async function lint(linted: OpenApiDocument): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-lint-'))
    try {
      const file = join(folder, 'openapi.json')
      await writeFile(file, JSON.stringify(linted))
      const cli = join(root, 'node_modules/@redocly/cli/bin/cli.js')
      const options = ['lint', file, '--config', join(root, 'redocly.yaml'), '--format', 'json']
      const run = promisify(execFile)(process.execPath, [cli, ...options], {
        cwd: root,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      })
      // It exits with 1 when it has found errors; the output has the same form.
      const { stdout } = await run.catch((cause: { stdout: string }) => cause)
      const found = JSON.parse(stdout) as { totals: object; problems: { ruleId: string; message: string }[] }
      expect(found.totals).toMatchObject({ errors: expect.any(Number), warnings: expect.any(Number) })
      return found.problems.map(({ ruleId }) => ruleId)
    } finally {
      await rm(folder, { recursive: true })
    }
  }
})

test('the types of the SDK fit the stored description', async () => {
  // The message of a failure says how to fix it.
  await promisify(execFile)(process.execPath, ['tools/scripts/rest-types.mjs', '--check'], { cwd: root })
})
