// Packs packages/python as a wheel: plain JavaScript, so that it works without Python. The same sources give the same bytes: the files are
// stored without compression, whose result depends on the processor.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { restStub } from './wheel-stub.mjs'

/** 1 January 1980, the earliest date of a zip file: date in the upper 16 bits, time in the lower ones. */
const ZIP_EPOCH = 0x21_0000
/** Regular file, readable by all. */
const UNIX_MODE = (0o100644 << 16) >>> 0

/**
 * Writes the wheel of the package `wheelhouse`.
 * @param {string} root the checkout
 * @param {string} target the folder of the wheel
 * @returns {{ file: string, bytes: number }}
 */
export function packWheel(root, target) {
  const source = join(root, 'packages/python')
  const project = readProject(join(source, 'pyproject.toml'))
  const { name, version } = project
  checkVersions(root, source, version)
  const info = `${name}-${version}.dist-info`
  const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))
  const modules = readdirSync(join(source, name)).filter((file) => /\.(py|pyi)$|^py\.typed$/.test(file))
  const files = new Map([
    ...modules.sort().map((file) => [`${name}/${file}`, readFileSync(join(source, name, file))]),
    [`${name}/openapi.json`, Buffer.from(JSON.stringify(document))],
    [`${name}/rest.pyi`, Buffer.from(restStub(document))],
    [`${info}/licenses/LICENSE`, readFileSync(join(root, 'LICENSE'))],
    [`${info}/METADATA`, Buffer.from(metadata(project, readFileSync(join(source, 'README.md'), 'utf8')))],
    [
      `${info}/WHEEL`,
      Buffer.from('Wheel-Version: 1.0\nGenerator: wheelhouse\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    ],
  ])
  const record = [...files].map(([path, bytes]) => `${path},sha256=${hash(bytes)},${bytes.length}\n`)
  files.set(`${info}/RECORD`, Buffer.from(`${record.join('')}${info}/RECORD,,\n`))
  const file = `${name}-${version}-py3-none-any.whl`
  const wheel = zip(files)
  writeFileSync(join(target, file), wheel)
  return { file, bytes: wheel.length }
}

const hash = (bytes) => createHash('sha256').update(bytes).digest('base64url')

/** Reads the fields of `[project]` that a wheel needs. Each is on a line of its own. */
function readProject(file) {
  const text = readFileSync(file, 'utf8')
  const field = (name) => {
    const value = new RegExp(`^${name} = (.+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${file} has no ${name}`)
    return JSON.parse(value)
  }
  const extras = /^\[project\.optional-dependencies\]\n((?:[\w-]+ = .+\n)*)/m.exec(text)?.[1] ?? ''
  return {
    name: field('name'),
    version: field('version'),
    summary: field('description'),
    license: field('license'),
    requiresPython: field('requires-python'),
    dependencies: field('dependencies'),
    extras: [...extras.matchAll(/^([\w-]+) = (.+)$/gm)].map(([, extra, list]) => [extra, JSON.parse(list)]),
  }
}

/** The version is written where Python needs it, and has to be that of the platform. */
function checkVersions(root, source, version) {
  const platform = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
  const module = /^__version__ = "(.+)"$/m.exec(
    readFileSync(join(source, 'wheelhouse/__init__.py'), 'utf8'),
  )?.[1]
  if (version !== platform || module !== platform)
    throw new Error(`packages/python has the versions ${version} and ${module}, the platform ${platform}`)
}

function metadata({ name, version, summary, license, requiresPython, dependencies, extras }, readme) {
  return [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${summary}`,
    `License: ${license}`,
    'License-File: LICENSE',
    'Classifier: Programming Language :: Python :: 3',
    'Classifier: Typing :: Typed',
    `Requires-Python: ${requiresPython}`,
    ...dependencies.map((dependency) => `Requires-Dist: ${dependency}`),
    ...extras.flatMap(([extra, list]) => [
      `Provides-Extra: ${extra}`,
      ...list.map((dependency) => `Requires-Dist: ${dependency}; extra == "${extra}"`),
    ]),
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n')
}

/** Returns a zip file with these files, uncompressed. */
function zip(files) {
  const [bodies, directory] = [[], []]
  let offset = 0
  for (const [path, bytes] of files) {
    const name = Buffer.from(path)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(20, 4) // version 2.0
    header.writeUInt32LE(ZIP_EPOCH, 10)
    header.writeUInt32LE(crc32(bytes), 14)
    header.writeUInt32LE(bytes.length, 18)
    header.writeUInt32LE(bytes.length, 22)
    header.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE((3 << 8) | 20, 4) // made under Unix
    header.copy(entry, 6, 4, 28)
    entry.writeUInt32LE(UNIX_MODE, 38)
    entry.writeUInt32LE(offset, 42)
    bodies.push(header, name, bytes)
    directory.push(entry, name)
    offset += header.length + name.length + bytes.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.size, 8)
  end.writeUInt16LE(files.size, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, ...directory, end])
}
