// Packs what others install, `protocol`, `sdk` and `cli`, as npm would publish it: plain JavaScript with types and
// source maps, in dist/packages or the empty folder given with `--to`. The same sources make the same bytes.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
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

const PARTS = ['protocol', 'sdk', 'cli']

const root = fileURLToPath(new URL('..', import.meta.url))
const windows = process.platform === 'win32'
const { values } = parseArgs({ options: { to: { type: 'string' } } })
const target = values.to === undefined ? join(root, 'dist/packages') : resolve(values.to)
const platform = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const sources = new Map(
  PARTS.map((part) => [part, JSON.parse(readFileSync(join(root, part, 'package.json'), 'utf8'))]),
)
const ours = new Set([...sources.values()].map(({ name }) => name))

if (values.to === undefined) rmSync(target, { recursive: true, force: true })
else if (existsSync(target) && readdirSync(target).length > 0) {
  console.error(`${target} is not empty; name an empty folder, or one that is not there yet.`)
  process.exit(1)
}
for (const part of PARTS) stage(part)
pack()

/** Makes the folder of one package, complete as it will be installed. */
function stage(part) {
  const folder = join(target, part)
  mkdirSync(folder, { recursive: true })
  compile(part, folder)
  for (const file of globSync('**/*.d.ts', { cwd: join(root, part), exclude: ['**/node_modules/**'] }))
    copyFileSync(join(root, part, file), join(folder, file))
  for (const file of globSync('**/*.js.map', { cwd: folder })) neutralize(join(folder, file), part)
  for (const file of globSync('**/*.d.ts', { cwd: folder })) pointToScripts(join(folder, file))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(part), null, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(root, part, 'README.md'), join(folder, 'README.md'))
}

function compile(part, folder) {
  const project = join(target, `tsconfig.${part}.json`)
  const compilerOptions = {
    ...{
      noEmit: false,
      outDir: folder,
      rootDir: join(root, part),
      typeRoots: [join(root, 'node_modules/@types')],
    },
    ...{ allowImportingTsExtensions: false, rewriteRelativeImportExtensions: true },
    // A program is run, not imported.
    ...{ declaration: part !== 'cli', stripInternal: true },
    // The sources themselves are not in the package.
    ...{ sourceMap: true, inlineSources: true },
  }
  const include = [`${join(root, part)}/**/*.ts`]
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include,
    exclude: ['**/node_modules'],
  }
  writeFileSync(project, JSON.stringify(config))
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', project])
  rmSync(project)
}

/** The source map holds its source; where that lay on this machine is nobody's business. */
function neutralize(file, part) {
  const map = JSON.parse(readFileSync(file, 'utf8'))
  const inPart = (source) =>
    relative(join(root, part), resolve(dirname(file), source))
      .split(sep)
      .join('/')
  map.sources = map.sources.map((source) => `wheelhouse:///${part}/${inPart(source)}`)
  writeFileSync(file, JSON.stringify(map))
}

/** Older compilers and other tools than the compiler find the types of `./x.js`, not those of `./x.ts`. */
function pointToScripts(file) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+?)(?:\.d)?\.ts\2/g, '$1$2$3.js$2'),
  )
}

/** The package.json that others get. */
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
  return {
    ...rest,
    license,
    ...(homepage && { homepage }),
    ...(bugs && { bugs }),
    ...(repository && { repository: { ...repository, directory: part } }),
    ...(exports && {
      exports: {
        '.': { types: exports.replace(/\.ts$/, '.d.ts'), default: script(exports) },
        './package.json': './package.json',
      },
    }),
    ...(imports && { imports: mapValues(imports, (files) => mapValues(files, script)) }),
    ...(bin && { bin: mapValues(bin, script) }),
    files: ['**/*.js', '**/*.js.map', ...(part === 'cli' ? [] : ['**/*.d.ts'])],
    dependencies: mapValues(dependencies, (version, name) => (ours.has(name) ? version : `^${version}`)),
  }
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

function pack() {
  const folders = PARTS.map((part) => join(target, part))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target, ...folders]
  const packed = JSON.parse(run('npm', args, { shell: windows }))
  for (const { filename, size, entryCount } of Object.values(packed)) {
    const file = join(target, basename(filename))
    console.log(`${relative(process.cwd(), file)}  ${entryCount} files, ${Math.ceil(size / 1024)} kB`)
  }
}

/** Runs a program to its end; answers with what it printed. */
function run(program, args, options = {}) {
  const done = spawnSync(program, args, { cwd: target, encoding: 'utf8', ...options })
  if (done.error) throw done.error
  if (done.status === 0) return done.stdout
  process.stderr.write(done.stdout + done.stderr)
  process.exit(1)
}
