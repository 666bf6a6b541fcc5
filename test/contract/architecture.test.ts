import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What each part may import beside itself. Whatever is missing here may import nothing. */
const allowed: Record<string, readonly string[]> = {
  protocol: [],
  sdk: ['protocol'],
  // Speak to the platform over the wire alone.
  cli: ['protocol', 'sdk'],
  console: ['protocol', 'sdk'],
  src: ['protocol'],
  gateway: ['src', 'protocol'],
  hub: ['src', 'protocol'],
  // Measures the servers from outside, beside bare ones of its own; the hub it only talks to. Finds programs as clusters do.
  bench: ['src', 'gateway', 'protocol', 'sdk', 'cluster'],
  // Starts the program as it is, beside its stores and a proxy.
  cluster: ['src'],
  // Breaks the platform from outside and looks at what is left.
  chaos: ['src', 'cluster', 'protocol', 'sdk'],
  // What outsiders write: nothing but what they would have.
  examples: ['protocol', 'sdk'],
  test: [
    'src',
    'gateway',
    'hub',
    'protocol',
    'sdk',
    'bench',
    'cluster',
    'chaos',
    'examples',
    'cli',
    'console',
  ],
}
const product = ['src', 'gateway', 'hub', 'protocol', 'sdk', 'cli', 'console']

/** The composition root knows every role; the demonstration plays robots and people with the SDK. */
function isException(file: string, target: string): boolean {
  if (file === 'src/app/roles.ts') return target === 'gateway' || target === 'hub'
  return file.startsWith('src/demo/') && target === 'sdk'
}

/** Programs of their own: they read the environment themselves. */
const environmentReaders = [
  'src/app/config.ts',
  'tools/demo/run-scenario.ts',
  'tools/demo/drive.ts',
  'packages/cli/main.ts',
  'packages/cli/robots/view.ts', // shows a program that does so
]
const MAX_LINES = 350

const ignored = new Set(['.git', 'node_modules', '.data', '.env', 'dist', 'coverage', 'package-lock.json'])

function walk(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !ignored.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return walk(path)
      return entry.isFile() ? [relative(root, path).split(sep).join('/')] : []
    })
}

/** Written by programs: `npm run openapi`. */
const generated = new Set(['packages/sdk/rest-types.d.ts'])

const files = walk()
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const modules = files.filter((file) => /^\w+\/.*\.tsx?$/.test(file) && !generated.has(file))
const textOf = (file: string) => texts.get(file) as string
const partOf = (path: string) => path.split('/')[0] as string

const importPattern =
  /\b(?:import|export)\s[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g

function importsOf(file: string): string[] {
  return [...textOf(file).matchAll(importPattern)].map((match) => (match[1] ?? match[2]) as string)
}

/** The file of ours that a specifier means, or undefined for a package of others. */
function ours(file: string, specifier: string): string | undefined {
  const workspace = /^@wheelhouse\/(\w+)/.exec(specifier)?.[1]
  if (workspace) return `${workspace}/index.ts`
  if (specifier.startsWith('#')) return conditional(partOf(file), specifier)
  if (!specifier.startsWith('.')) return undefined
  return relative(root, join(root, dirname(file), specifier))
    .split(sep)
    .join('/')
}

/** What the package.json of the file's part puts in the place of `#name` outside of browsers. */
function conditional(part: string, name: string): string | undefined {
  const file = JSON.parse(texts.get(`${part}/package.json`) ?? '{}').imports?.[name]?.default
  return file && join(part, file)
}

const internal = modules.flatMap((file) =>
  importsOf(file).flatMap((specifier) => {
    const target = ours(file, specifier)
    return target === undefined ? [] : [{ file, specifier, target }]
  }),
)

describe('imports', () => {
  test('are all found', () => {
    const found = internal.map(({ file, target }) => `${file} → ${target}`)
    expect(found).toContain('src/app/roles.ts → gateway/index.ts')
    expect(found).toContain('src/app/roles.ts → hub/server.ts')
    expect(found).toContain('tools/demo/start.ts → packages/sdk/index.ts')
    expect(found).toContain('test/support/world/world.ts → src/app/roles.ts')
    for (const part of product)
      expect(
        internal.some(({ file }) => partOf(file) === part),
        part,
      ).toBe(true)
  })

  test('point to files that exist, with their extension', () => {
    const lost = internal.filter(({ target }) => !texts.has(target))
    expect(lost).toEqual([])
  })

  test('go inward only, and never from the gateway to the hub or back', () => {
    const forbidden = internal.filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)]
      return from !== to && !allowed[from]?.includes(to) && !isException(file, to)
    })
    expect(forbidden).toEqual([])
  })

  test('of protocol and SDK by others go through their front doors, as outsiders see them', () => {
    const behind = internal.filter(({ file, target }) => {
      const [from, to] = [partOf(file), partOf(target)]
      const library = to === 'protocol' || to === 'sdk'
      return library && from !== to && from !== 'test' && target !== `${to}/index.ts`
    })
    expect(behind).toEqual([])
  })

  test('run in no circle between files of the product', () => {
    const next = new Map<string, string[]>()
    for (const { file, target } of internal) next.set(file, [...(next.get(file) ?? []), target])
    const circles: string[][] = []
    const done = new Set<string>()
    const openPage = (file: string, path: string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file])
      else if (!done.has(file)) {
        for (const target of next.get(file) ?? []) openPage(target, [...path, file])
        done.add(file)
      }
    }
    for (const file of modules) if (product.includes(partOf(file))) openPage(file, [])
    expect(circles).toEqual([])
  })

  test('of the SDK and the protocol reach nothing of Node, so that they can be bundled for browsers', () => {
    const portable = modules.filter((file) => ['sdk', 'protocol'].includes(partOf(file)))
    expect(portable).toContain('packages/sdk/operator-link.ts')
    const bound = portable.filter(
      (file) => importsOf(file).some(isBuiltIn) || /\b(?:Buffer\s*[.(]|process\s*\.)/.test(textOf(file)),
    )
    expect(bound).toEqual([])
  })

  test('of packages are declared where they are used, for a production installation too', () => {
    const declared = (folder: string) => JSON.parse(textOf(`${folder}package.json`)).dependencies ?? {}
    const undeclared = modules
      // How something is built is no part of what runs.
      .filter((file) => product.includes(partOf(file)) && !file.endsWith('.config.ts'))
      .flatMap((file) => {
        const part = partOf(file)
        const dependencies = declared(['protocol', 'sdk', 'cli', 'console'].includes(part) ? `${part}/` : '')
        return importsOf(file)
          .filter((specifier) => !/^[.#]/.test(specifier) && !isBuiltIn(specifier))
          .map((specifier) => packageOf(specifier))
          .filter((name) => !(name in dependencies))
          .map((name) => `${file}: ${name}`)
      })
    expect(undeclared).toEqual([])
  })
})

describe('the code', () => {
  test('reads the environment in one place', () => {
    const readers = modules.filter(
      (file) => product.includes(partOf(file)) && /\bprocess\s*\.\s*env\b/.test(textOf(file)),
    )
    expect(readers).toContain('src/app/config.ts')
    expect(readers.filter((file) => !environmentReaders.includes(file))).toEqual([])
  })

  test(`has no file of the product over ${MAX_LINES} lines`, () => {
    const long = modules
      .filter((file) => product.includes(partOf(file)))
      .map((file) => ({ file, lines: textOf(file).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > MAX_LINES)
    expect(long).toEqual([])
  })
})

describe('the repository', () => {
  test('points to nothing outside itself and to no place on the machine it was written on', () => {
    const outside = files.flatMap((file) => {
      const text = textOf(file)
      const climbing = [...text.matchAll(/(?<![\w.])(?:\.\.\/)+[\w@.-]+/g)]
        .map((match) => match[0])
        .filter((path) => relative(root, join(root, dirname(file), path)).startsWith('../..'))
      const absolute = [...text.matchAll(/(?<![\w.~-])\/(?:home|Users|work|workspace)\/(?!node\b)\w+/g)]
      return [...climbing, ...absolute.map((match) => match[0])].map((path) => `${file}: ${path}`)
    })
    expect(outside).toEqual([])
  })
})

function isBuiltIn(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}
