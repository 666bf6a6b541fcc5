import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkEagerImports, checkModuleEdges } from './check-dependencies.ts'
import { folderCycles } from './folder-cycles.ts'

const program = fileURLToPath(new URL('main.ts', import.meta.url))

/** Runs the check on a tree of files. Returns its exit code and `file rule` of each finding. */
function check(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'dependencies-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, root], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const findings = stdout
    .split('\n')
    .filter((line) => line.includes('  '))
    .map((line) => line.split('  ').slice(0, 2).join(' '))
    // The list of edges describes the real modules.
    .filter((line) => !line.endsWith(' module-edges'))
  return { status, findings: findings.sort() }
}

const importing = (...paths: string[]) => `${paths.map((path) => `import '${path}'`).join('\n')}\nexport {}\n`

/** A small tree that follows all rules. */
const good: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ dependencies: { koa: '1' }, devDependencies: { vitest: '1' } }),
  'node_modules/koa/package.json': JSON.stringify({ name: 'koa', main: 'index.js' }),
  'node_modules/koa/index.js': '',
  'node_modules/vitest/package.json': JSON.stringify({ name: 'vitest', main: 'index.js' }),
  'node_modules/vitest/index.js': '',
  'src/main.ts': `${importing('./roles/start-roles.ts', './core/log.ts')}await import('../tools/demo/start.ts')`,
  'src/roles/start-roles.ts': `import '../modules/sessions/index.ts'\nawait import('../../gateway/index.ts')\nexport {}`,
  'src/app/database/orm.ts': importing('../../modules/robots/robot.entity.ts'),
  'src/core/log.ts': importing('../../packages/protocol/index.ts', 'koa'),
  'src/core/log.test.ts': importing('./log.ts', 'vitest', '../../test/support/world.ts'),
  'src/modules/sessions/index.ts': importing('./session.service.ts'),
  'src/modules/sessions/session.service.ts': importing('../robots/index.ts', '../../core/log.ts'),
  'src/modules/robots/index.ts': importing('./robot.entity.ts'),
  'src/modules/robots/robot.entity.ts': importing('../../core/log.ts'),
  'src/app/container.ts': importing('../modules/robots/index.ts', '../core/log.ts'),
  'src/roles/api/openapi.ts': importing('../../modules/robots/index.ts', '../../app/container.ts'),
  'src/roles/media/role.ts': importing('../../core/log.ts'),
  'gateway/index.ts': importing('../src/core/log.ts', '../src/modules/sessions/index.ts'),
  'hub/index.ts': importing('../src/core/log.ts', '../src/modules/sessions/index.ts'),
  'packages/protocol/index.ts': 'export const a = 1',
  'packages/sdk/index.ts': importing('../protocol/index.ts'),
  'packages/cli/main.ts': importing('../sdk/index.ts', 'node:fs'),
  'packages/console/src/main.tsx': importing('../../sdk/index.ts'),
  'examples/robot.ts': importing('../packages/sdk/index.ts'),
  'tools/demo/start.ts': importing('../../src/roles/start-roles.ts', '../../packages/sdk/index.ts'),
  'lab/bench/main.ts': importing('../../gateway/index.ts'),
  'test/support/world.ts': importing('../../src/roles/start-roles.ts'),
}

test('a tree that follows the rules passes', { timeout: 60_000 }, () => {
  expect(check(good)).toMatchObject({ findings: [] })
})

test('each forbidden import is reported', { timeout: 60_000 }, () => {
  const violations: Readonly<Record<string, readonly [imports: string, rule: string]>> = {
    'src/core/a.ts': ['../modules/robots/index.ts', 'core-is-the-base'],
    'src/core/b.ts': ['../app/container.ts', 'core-is-the-base'],
    'src/core/c.ts': ['../../tools/demo/start.ts', 'core-is-the-base'],
    'src/core/d.ts': ['vitest', 'declared-packages'],
    'src/core/e.ts': ['./lost.ts', 'import-resolves'],
    'src/core/f.ts': ['uWebSockets.js', 'uwebsockets-in-gateway'],
    'src/modules/robots/a.ts': ['../../roles/api/openapi.ts', 'modules-import-core'],
    'src/modules/robots/b.ts': ['../sessions/index.ts', 'module-edge-not-listed'],
    'src/modules/unlisted/a.ts': ['../robots/index.ts', 'module-edge-not-listed'],
    'src/modules/sessions/a.ts': ['../robots/robot.entity.ts', 'module-through-index'],
    'src/modules/sessions/b.ts': ['../../../hub/index.ts', 'modules-import-core'],
    'src/roles/api/a.ts': ['../media/role.ts', 'roles-without-each-other'],
    'src/roles/api/b.ts': ['../../modules/robots/robot.entity.ts', 'roles-import-app'],
    'src/app/a.ts': ['../modules/sessions/session.service.ts', 'app-uses-module-index'],
    'src/app/b.ts': ['../modules/robots/robot.entity.ts', 'app-database-knows-entities'],
    'src/app/c.ts': ['../roles/api/openapi.ts', 'app-imports-modules-and-core'],
    'gateway/a.ts': ['../hub/index.ts', 'gateway-imports-modules-and-core'],
    'gateway/b.ts': ['../src/modules/sessions/session.service.ts', 'gateway-imports-modules-and-core'],
    'hub/a.ts': ['../gateway/index.ts', 'hub-imports-modules-and-core'],
    'hub/b.ts': ['../src/app/container.ts', 'hub-imports-modules-and-core'],
    'hub/c.ts': ['../test/support/world.ts', 'hub-imports-modules-and-core'],
    'packages/protocol/a.ts': ['../../src/core/log.ts', 'protocol-imports-nothing'],
    'packages/protocol/b.ts': ['node:fs', 'portable-packages'],
    'packages/protocol/c.ts': ['./d.ts', 'no-file-cycle'],
    'packages/sdk/a.ts': ['../protocol/a.ts', 'sdk-imports-protocol'],
    'packages/cli/a.ts': ['../../src/core/log.ts', 'cli-imports-sdk'],
    'packages/console/src/a.tsx': ['../../sdk/a.ts', 'console-imports-sdk'],
    'examples/a.ts': ['../src/core/log.ts', 'examples-are-outsiders'],
    'test/support/a.ts': ['../../lab/bench/main.ts', 'nothing-imports-lab'],
    'tools/demo/a.ts': ['../../gateway/index.ts', 'demo-plays-with-sdk'],
    'tools/scripts/a.ts': ['../../src/core/log.ts', 'scripts-import-nothing'],
    'tools/checks/a.ts': ['../../src/core/log.ts', 'checks-import-nothing'],
  }
  const files = Object.entries(violations).map(([path, [imported]]) => [path, importing(imported)])
  const { status, findings } = check({
    ...good,
    ...Object.fromEntries(files),
    'packages/protocol/d.ts': importing('./c.ts'),
  })
  expect(status).toBe(1)
  const expected = Object.entries(violations).map(([path, [, rule]]) => `${path} ${rule}`)
  const consequences = [
    'src/app no-folder-cycle',
    'src/core/f.ts declared-packages',
    'src/modules no-folder-cycle',
    'src/modules/robots no-folder-cycle',
    'src/roles no-folder-cycle',
  ]
  expect(findings).toEqual([...expected, ...consequences].sort())
})

test('roles and the demo must be loaded on demand', { timeout: 60_000 }, () => {
  const { findings } = check({
    ...good,
    'src/main.ts': importing('./roles/start-roles.ts', '../tools/demo/start.ts'),
    'src/roles/start-roles.ts': importing('../../gateway/index.ts'),
  })
  expect(findings).toEqual([
    'src/main.ts load-roles-on-demand',
    'src/main.ts main-starts-demo-dynamically',
    'src/roles/start-roles.ts load-roles-on-demand',
  ])
})

const edge = (from: string, to: string) => ({ from, to, typeOnly: false, dynamic: false })

describe('folder cycles', () => {
  test('are found between sibling folders, also when nested folders hide them', () => {
    const edges = [edge('src/a/x.ts', 'src/b/c/y.ts'), edge('src/b/z.ts', 'src/a/w.ts')]
    expect(folderCycles(edges, ['src'])).toEqual([['src/a', 'src/b', 'src/a']])
  })

  test('are found between a folder and a file beside it', () => {
    const edges = [edge('src/a/x.ts', 'src/index.ts'), edge('src/index.ts', 'src/a/y.ts')]
    expect(folderCycles(edges, ['src'])).toEqual([['src/a', 'src/index.ts', 'src/a']])
  })

  test('do not exist in layers, and outside of the given folders', () => {
    const edges = [edge('src/a/x.ts', 'src/b/y.ts'), edge('src/b/z.ts', 'src/c/w.ts')]
    expect(folderCycles(edges, ['src'])).toEqual([])
    expect(folderCycles([edge('x/a/b.ts', 'x/c/d.ts'), edge('x/c/d.ts', 'x/a/b.ts')], ['src'])).toEqual([])
  })
})

describe('the list of module edges', () => {
  const messages = (allowed: Record<string, string[]>, edges: Parameters<typeof checkModuleEdges>[1]) =>
    checkModuleEdges(allowed, edges).map(({ message }) => message)

  test('passes when it is short, without cycles, and used', () => {
    expect(messages({ a: ['b'] }, [edge('src/modules/a/x.ts', 'src/modules/b/index.ts')])).toEqual([])
  })

  test('is refused with an unused edge, a cycle, or more than 16 edges', () => {
    expect(messages({ a: ['b'] }, [])).toEqual(['lists a → b, which no file uses: remove it'])
    const both = [
      edge('src/modules/a/x.ts', 'src/modules/b/index.ts'),
      edge('src/modules/b/x.ts', 'src/modules/a/index.ts'),
    ]
    expect(messages({ a: ['b'], b: ['a'] }, both)).toEqual(['lists a cycle: a → b → a'])
    const many = Array.from({ length: 17 }, (_, index) => `m${index}`)
    expect(messages({ a: many }, [])[0]).toContain('lists 17 edges, at most 16')
  })
})

test('imports of types and dynamic imports load nothing at once', () => {
  const uses = edge('src/main.ts', 'gateway/index.ts')
  expect(checkEagerImports([uses])).toHaveLength(1)
  expect(checkEagerImports([{ ...uses, typeOnly: true }])).toEqual([])
  expect(checkEagerImports([{ ...uses, dynamic: true }])).toEqual([])
  const behind = [edge('src/main.ts', 'src/app/a.ts'), edge('src/app/a.ts', 'hub/server.ts')]
  expect(checkEagerImports(behind)).toMatchObject([{ file: 'src/app/a.ts' }])
})
