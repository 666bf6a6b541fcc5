// Deletes files of installed packages that nothing here loads; see docs/install-size.md. Runs under the Node
// of node_modules after npm ci, and again when the lockfile or this file has changed; a second run does nothing.
// `--image` also deletes what only development needs, `--restorable` what ensure-biome.mjs and ensure-duckdb.mjs restore.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { root: { type: 'string' }, image: { type: 'boolean' }, restorable: { type: 'boolean' } },
})
const root = values.root ?? fileURLToPath(new URL('../..', import.meta.url))
const modules = join(root, 'node_modules')

const DECLARATION = /\.d\.[cm]?ts$/
const COMMONJS = /\.(cjs|d\.cts)$/
/** Files that no rule deletes. */
const LICENCE = /(^|\/)(licen[cs]e|notice|copying)[^/]*$/i
/** Deleted only where a licence stands in a file of its own. */
const README = /(^|\/)readme[^/]*\.md$/i
const { platform, arch, versions } = process
const ownSockets = `dist/bin/uws_${platform}_${arch}_${versions.modules}.node`

/** Packages with the paths inside them that nothing loads. A rule that matches no path deletes nothing. */
const RULES = [
  // Source maps, also those of declarations and styles.
  [/./, /\.([cm]?[jt]s|css)\.map$/],
  // Node's package: headers to compile add-ons for all platforms, manual pages.
  [/^node-(bin-)?(linux|darwin|win)-/, /^(include|share)\/|^CHANGELOG\.md$/],
  // Modules for other platforms and other versions of Node. Without this platform's own module, none is deleted.
  ...(existsSync(join(modules, 'uWebSockets.js', ownSockets))
    ? [[/^uWebSockets\.js$/, { test: (path) => path.endsWith('.node') && path !== ownSockets }]]
    : []),
  // CommonJS variants of imported ES modules.
  [/^stripe$/, /^cjs\//],
  [/^@mantine\/(charts|core|dates|hooks|notifications|store)$/, /^cjs\//],
  [/^@tanstack\/(history|query-core|react-query|react-router|react-store|router-core|store)$/, COMMONJS],
  [/^@modelcontextprotocol\/(client|core|server)$/, COMMONJS],
  [/^recharts$/, /^(lib|umd)\//],
  [/^@mcap\/core$/, /^(dist\/cjs|src)\//],
  [/^@smithy\/|^@aws-sdk\//, /^dist-es\//],
  // Builds for old browsers, demos, reduced and minified variants.
  [/^@tanstack\/(query-core|react-query)$/, /^build\/legacy\//],
  [/^hls\.js$/, /^(src\/|dist\/hls-demo|dist\/.*(light|\.min\.))/],
  [/^swagger-ui-dist$/, /^swagger-ui(-es-bundle(-core)?|-standalone-preset)?\.js$/],
  [/^react-dom$/, /^cjs\/react-dom-(server|profiling|test-utils)/],
  [/^mediabunny$/, /^(dist\/bundles|src)\//],
  [/^protobufjs$/, /^dist\//],
  [/^uplot$/, /^(demos|bench)\//],
  [/^parquet-wasm$/, /^(bundler|esm)\//],
  [/^playwright-core$/, /^lib\/vite\//],
  [/^@redocly\/cli$/, /redoc\.standalone/],
  [/^@foxglove\/rosmsg-msgs-common$/, /^msgdefs\//],
  [/^lodash$/, /^fp\//],
  [/^hono$/, /^dist\/cjs\//],
  [/./, /(^|\/)(changelog|changes|history|upgrading|migration)[^/]*\.md$/i],
  // Sources of compiled files, and tests.
  [/^(zod|@redocly\/openapi-core|@reduxjs\/toolkit|@tanstack\/.*)$/, /^src\//],
  [
    /^(bintrees|dicer|fast-uri|object-inspect|pino|pino-pretty|qs|resolve|thread-stream|undici)$/,
    /^(test|docs)\//,
  ],
  // CommonJS: only the console's build imports it, as ES modules.
  [/^es-toolkit$/, /\.js$/],
  // Messages of the compiler in other languages.
  [/^typescript$/, /^lib\/[a-z]{2}(-[a-z]{2})?\/diagnosticMessages\.generated\.json$/],
  // Types of programs that are run, and of packages that only other packages import.
  [/^(@octokit\/.*|@redocly\/(config|openapi-core)|@modelcontextprotocol\/sdk|es-toolkit)$/, DECLARATION],
  ...(values.restorable
    ? [
        [/^@biomejs\/cli-/, /^biome(\.exe)?$/],
        [/^@duckdb\/node-bindings-/, /^(libduckdb\.(so|dylib)|duckdb\.dll)$/],
      ]
    : []),
  // The image compiles nothing. It needs only one copy of Node, which is linked twice here.
  ...(values.image
    ? [
        [/./, DECLARATION],
        [/^node-(bin-)?(linux|darwin|win)-/, /^bin\//],
      ]
    : []),
]

let deleted = 0
for (const folder of [modules, ...workspaces().map((name) => join(root, name, 'node_modules'))]) {
  for (const name of packagesIn(folder)) prunePackage(folder, name)
}
if (deleted > 0) console.log(`Deleted ${deleted} files of packages that nothing here loads.`)

function prunePackage(folder, name) {
  const patterns = RULES.filter(([names]) => names.test(name)).map(([, paths]) => paths)
  const home = join(folder, name)
  if (entriesOf(home).some((entry) => LICENCE.test(entry.name))) patterns.push(README)
  prune(home, '', patterns)
  for (const inner of packagesIn(join(home, 'node_modules'))) prunePackage(join(home, 'node_modules'), inner)
}

/** Returns whether the folder has become empty. */
function prune(home, below, patterns) {
  const entries = entriesOf(join(home, below))
  let left = entries.length
  for (const entry of entries) {
    const path = below + entry.name
    const gone = entry.isDirectory()
      ? path !== 'node_modules' && prune(home, `${path}/`, patterns) && remove(join(home, path))
      : isUnused(path, patterns) && remove(join(home, path), 1)
    if (gone) left--
  }
  return entries.length > 0 && left === 0
}

function isUnused(path, patterns) {
  return patterns.some((pattern) => pattern.test(path)) && !LICENCE.test(path)
}

function remove(path, files = 0) {
  rmSync(path, { recursive: true, force: true })
  deleted += files
  return true
}

/** Returns the names of the packages in a folder. Workspaces of this repository are links, which it skips. */
function packagesIn(folder) {
  const names = (inside) =>
    entriesOf(inside)
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
  return names(folder).flatMap((name) =>
    name.startsWith('@') ? names(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  )
}

function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

function workspaces() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).workspaces ?? []
}
