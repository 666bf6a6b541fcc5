// Packs `protocol`, `sdk` and `cli` as npm tarballs, and the wheel of the package for Python: plain JavaScript with types and source maps, in the empty folder
// given with `--to`. The same sources give the same bytes. Each package contains the code of those it builds on, so
// no tarball depends on a package name that a registry could give to someone else.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packWheel } from './wheel.mjs'

/** The packages, and the packages whose code each contains. */
const PARTS = { protocol: [], sdk: ['protocol'], cli: ['protocol', 'sdk'] }
const TYPES = /\.d\.ts$/

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = join(root, 'packages')
const windows = process.platform === 'win32'
const { values } = parseArgs({ options: { to: { type: 'string' } } })
const target = resolve(values.to ?? join(root, 'dist/packages'))
const staging = join(target, 'staging')
const compiled = join(staging, 'compiled')
const platform = readJson(join(root, 'package.json'))
const sources = new Map(
  Object.keys(PARTS).map((part) => [part, readJson(join(packages, part, 'package.json'))]),
)
const partOf = new Map([...sources].map(([part, { name }]) => [name, part]))

if (existsSync(target) && readdirSync(target).length > 0) {
  console.error(`${target} is not empty. Name an empty folder, or a folder that does not exist.`)
  process.exit(1)
}
for (const part of Object.keys(PARTS)) compile(part)
for (const part of Object.keys(PARTS)) assemble(part)
pack()
const wheel = packWheel(root, target)
console.log(`${wheel.file}  ${Math.ceil(wheel.bytes / 1024)} kB`)
rmSync(staging, { recursive: true })

/** Compiles one package without the others; its imports of the others keep their package names. */
function compile(part) {
  const folder = join(compiled, part)
  mkdirSync(folder, { recursive: true })
  const project = join(compiled, `tsconfig.${part}.json`)
  const compilerOptions = {
    noEmit: false,
    outDir: folder,
    rootDir: join(packages, part),
    typeRoots: [join(root, 'node_modules/@types')],
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    // A program exports no types.
    declaration: part !== 'cli',
    stripInternal: true,
    // The package does not contain the sources themselves.
    sourceMap: true,
    inlineSources: true,
  }
  const include = [`${join(packages, part)}/**/*.ts`]
  // TypeScript resolves patterns relative to the generated project, so they need absolute paths.
  const exclude = ['node_modules', '*.test.ts'].map((name) => `${join(packages, part)}/**/${name}`)
  writeFileSync(
    project,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include, exclude }),
  )
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', project])
  for (const file of globSync('**/*.d.ts', { cwd: join(packages, part), exclude: ['**/node_modules/**'] }))
    copyFileSync(join(packages, part, file), join(folder, file))
  for (const file of globSync('**/*.js.map', { cwd: folder })) neutralize(join(folder, file), part)
  for (const file of globSync('**/*.d.ts', { cwd: folder })) pointToScripts(join(folder, file))
}

/** Creates the folder of one package, complete as npm installs it. */
function assemble(part) {
  const folder = join(staging, part)
  cpSync(join(compiled, part), folder, { recursive: true })
  const filter = (file) => part !== 'cli' || !TYPES.test(file)
  for (const other of PARTS[part])
    cpSync(join(compiled, other), join(folder, other), { recursive: true, filter })
  for (const file of globSync('**/*.{js,d.ts}', { cwd: folder })) pointToContained(folder, file)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(part), null, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(packages, part, 'README.md'), join(folder, 'README.md'))
}

/** Replaces the path of the source in a source map, which names a folder of this machine. The map contains the source. */
function neutralize(file, part) {
  const map = readJson(file)
  const inPart = (source) =>
    relative(join(packages, part), resolve(dirname(file), source))
      .split(sep)
      .join('/')
  map.sources = map.sources.map((source) => `wheelhouse:///${part}/${inPart(source)}`)
  writeFileSync(file, JSON.stringify(map))
}

/** Rewrites `./x.ts` to `./x.js`, for compilers and tools that find types only that way. */
function pointToScripts(file) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+?)(?:\.d)?\.ts\2/g, '$1$2$3.js$2'),
  )
}

/** Points imports of our packages to their copy in the same package. Static imports begin a line; texts do not. */
function pointToContained(folder, file) {
  const text = readFileSync(join(folder, file), 'utf8')
  const contained = (all, before, quote, name) => {
    const other = partOf.get(name)
    if (other === undefined) return all
    const path = relative(dirname(file), join(other, 'index.js')).split(sep).join('/')
    return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
  }
  const pointed = text
    .replace(/^((?:import|export) (?:.* from )?)(['"])([^'"]+)\2/gm, contained)
    .replace(/(\bimport\()(['"])([^'"]+)\2/g, contained)
  if (pointed !== text) writeFileSync(join(folder, file), pointed)
}

/** Returns the package.json of an installed package. */
function manifest(part) {
  const {
    private: _,
    scripts,
    devDependencies,
    exports,
    imports,
    bin,
    dependencies,
    ...rest
  } = sources.get(part)
  const { license, repository, homepage, bugs } = platform
  const script = (file) => file.replace(/\.ts$/, '.js')
  const allImports = { ...importsOfContained(part), ...imports }
  return {
    ...rest,
    license,
    ...(homepage && { homepage }),
    ...(bugs && { bugs }),
    ...(repository && { repository: { ...repository, directory: `packages/${part}` } }),
    ...(exports && {
      exports: {
        '.': { types: exports.replace(/\.ts$/, '.d.ts'), default: script(exports) },
        './package.json': './package.json',
      },
    }),
    ...(Object.keys(allImports).length > 0 && {
      imports: mapValues(allImports, (files) => mapValues(files, script)),
    }),
    ...(bin && { bin: mapValues(bin, script) }),
    files: ['**/*.js', '**/*.js.map', ...(part === 'cli' ? [] : ['**/*.d.ts'])],
    dependencies: dependenciesOf(part),
    ...optionalPeersOf(part),
  }
}

/** Returns the import map of the contained packages, whose files are one folder further down. */
function importsOfContained(part) {
  const maps = PARTS[part].map((other) =>
    mapValues(sources.get(other).imports ?? {}, (files) =>
      mapValues(files, (file) => file.replace(/^\.\//, `./${other}/`)),
    ),
  )
  return Object.assign({}, ...maps)
}

/** Returns the dependencies of a package and its contained packages on other packages, in compatible versions. */
function dependenciesOf(part) {
  const all = [...PARTS[part], part].flatMap((name) => Object.entries(sources.get(name).dependencies))
  const foreign = all.filter(([name]) => !partOf.has(name)).sort(([a], [b]) => (a < b ? -1 : 1))
  return mapValues(Object.fromEntries(foreign), (version) => `^${version}`)
}

/** Returns the optional packages that a package and its contained packages use where a program has installed them. */
function optionalPeersOf(part) {
  const all = [...PARTS[part], part].flatMap((name) =>
    Object.entries(sources.get(name).peerDependencies ?? {}),
  )
  if (all.length === 0) return {}
  const versions = mapValues(Object.fromEntries(all), (version) => `^${version}`)
  return { peerDependencies: versions, peerDependenciesMeta: mapValues(versions, () => ({ optional: true })) }
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function pack() {
  const folders = Object.keys(PARTS).map((part) => join(staging, part))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target, ...folders]
  const packed = JSON.parse(run('npm', args, { shell: windows }))
  for (const { filename, size, entryCount } of Object.values(packed))
    console.log(`${basename(filename)}  ${entryCount} files, ${Math.ceil(size / 1024)} kB`)
}

/** Runs a program to its end and returns its output. */
function run(program, args, options = {}) {
  const done = spawnSync(program, args, { cwd: target, encoding: 'utf8', ...options })
  if (done.error) throw done.error
  if (done.status === 0) return done.stdout
  process.stderr.write(done.stdout + done.stderr)
  process.exit(1)
}
