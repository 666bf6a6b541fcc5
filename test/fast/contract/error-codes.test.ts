import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ErrorCode, errorCodeTexts } from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import { errorResponsesOf } from '../../../src/core/http/error-responses.ts'
import { declaredEndpoints, STORED_BASE_URL } from '../../../src/roles/api/declared-endpoints.ts'
import { describeApi } from '../../../src/roles/api/openapi/document.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const sources = ['src', 'gateway', 'hub'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => read(join(folder, name))),
)
/** Removes the keys from a source, because the declared errors of routes use codes as keys. */
const declarationsOf = (source: string) => source.replaceAll(/^\s*\w+:/gm, '')

const endpoints = declaredEndpoints()

describe('each error code', () => {
  test('is thrown or sent by the platform', () => {
    const text = sources.map(declarationsOf).join('\n')
    expect(ErrorCode.options.filter((code) => !text.includes(`'${code}'`))).toEqual([])
  })

  test('is in snake case and has a description of one sentence', () => {
    for (const [code, description] of Object.entries(errorCodeTexts)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
      expect(description, code).toMatch(/^[A-Z][^.]+(`.+`[^.]*)?\.$/)
    }
  })

  test('that a route declares belongs to the enum', () => {
    const declared = endpoints.flatMap((spec) =>
      [...errorResponsesOf(spec).values()].flatMap((cases) => [...cases.keys()]),
    )
    expect(declared.filter((code) => !ErrorCode.options.includes(code))).toEqual([])
  })

  test('is listed in docs/errors.md with its description', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)]
    expect(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning]))).toEqual(errorCodeTexts)
    expect(rows).toHaveLength(ErrorCode.options.length)
  })
})

describe('the OpenAPI document', () => {
  const { paths = {}, components = {} } = describeApi({ endpoints, baseUrl: STORED_BASE_URL })
  type Response = { $ref?: string; headers?: Record<string, { schema?: { enum?: string[] } }> }
  const resolve = (response: Response): Response =>
    response.$ref ? (components.responses?.[response.$ref.split('/').at(-1) as string] as Response) : response

  test('declares for every error response the codes that the route can answer with', () => {
    for (const spec of endpoints) {
      const responses = paths[spec.path]?.[spec.method]?.responses as Record<string, Response>
      for (const [status, cases] of errorResponsesOf(spec)) {
        const codes = resolve(responses[status] as Response).headers?.['Wheelhouse-Error']?.schema?.enum
        expect(codes, `${spec.method} ${spec.path} ${status}`).toEqual(
          expect.arrayContaining([...cases.keys()]),
        )
      }
    }
  })

  test('declares the codes of a shared response and of a response of a single route', () => {
    const start = paths['/api/sessions']?.post?.responses as Record<string, Response>
    expect(start[401]?.$ref).toBe('#/components/responses/Unauthorized')
    expect(resolve(start[401] as Response).headers?.['Wheelhouse-Error']?.schema?.enum).toContain(
      'token_expired',
    )
    expect(start[409]?.headers?.['Wheelhouse-Error']?.schema?.enum).toEqual(
      expect.arrayContaining(['robot_offline', 'operator_busy', 'idempotency_key_in_use']),
    )
  })

  test('declares the code of a 503 with a different body', () => {
    const health = paths['/api/health']?.get?.responses as Record<string, Response>
    expect(health[503]?.headers?.['Wheelhouse-Error']?.schema?.enum).toEqual(['database_unavailable'])
  })
})
