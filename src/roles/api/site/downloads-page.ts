import type { Context, Middleware } from 'koa'
import { AppError, notAllowed } from '../../../core/errors/errors.ts'
import { sendPage, template } from '../../../core/http/html-page.ts'
import { createPackageStore, type PackageFile, type PackageName } from './package.store.ts'

const HOME = '/downloads'
/** The package index for pip, in the form of PEP 503. */
const INDEX = `${HOME}/simple`
const PYTHON_PROJECT = 'wheelhouse'

/** npm 12 requires this option to install from a URL. Older versions ignore it. */
const ALLOW_REMOTE_OPTION = '--allow-remote=root'

interface PackageDescription {
  readonly title: string
  readonly purpose: string
  readonly commands: (url: string, baseUrl: string, sha256: string) => readonly string[]
}

const descriptions: Record<PackageName, PackageDescription> = {
  cli: {
    title: 'Command line',
    purpose: 'The program wheelhouse, installed globally, or run once without installation:',
    commands: (url, baseUrl) => [
      `npm install --global ${ALLOW_REMOTE_OPTION} ${url}`,
      `wheelhouse login ${baseUrl}`,
      '',
      `npx --yes ${ALLOW_REMOTE_OPTION} ${url} --help`,
    ],
  },
  sdk: {
    title: '@wheelhouse/sdk',
    purpose: 'Connections for robots, operators and observers, and a typed client of the REST API:',
    commands: (url) => [`npm install ${ALLOW_REMOTE_OPTION} ${url}`],
  },
  protocol: {
    title: '@wheelhouse/protocol',
    purpose: 'The frames and events of the protocols as zod schemas:',
    commands: (url) => [`npm install ${ALLOW_REMOTE_OPTION} ${url}`],
  },
  python: {
    title: 'Python package wheelhouse',
    purpose:
      'Robots, operators and observers in Python 3.10 or newer, from this address with its hash, or from the index of this platform:',
    commands: (url, baseUrl, sha256) => [
      `pip install "wheelhouse @ ${url}#sha256=${sha256}"`,
      '',
      'pip install websockets',
      `pip install --no-deps --index-url ${baseUrl}${INDEX}/ ${PYTHON_PROJECT}`,
    ],
  },
}

const notPackedTemplate =
  template(`<p>Pack them with <b>npm run pack</b>, then load this page again. <b>npm start</b> packs them by
itself.</p>`)

const listTemplate = template<{
  home: string
  index: string
  packages: readonly ReturnType<typeof describe>[]
  sdkUrl: string
}>(`<p>The packages for JavaScript need Node 22.12 or newer. None of the packages is in a public registry, where
the name <b>wheelhouse</b> may belong to an unrelated package: always install them by their address.</p>
<% for (const { title, version, purpose, commands } of it.packages) { %><h2><%= title %> <%= version %></h2>
<p><%= purpose %></p>
<pre><%= commands %></pre>
<% } %>
<h2>Hashes</h2>
<p>npm records the hash of a file in <code>package-lock.json</code> and checks it at every later installation.</p>
<% for (const { file, size, integrity } of it.packages) { %><p><a href="<%= it.home %>/<%= file %>"><%= file %></a>, <%= size %> kB<br><code><%= integrity %></code></p>
<% } %>
<p>To check a file by hand:</p>
<pre>openssl dgst -sha512 -binary <%= it.packages[0].file %> | openssl base64 -A</pre>
<h2>Notes</h2>
<p><code>pip install --extra-index-url <%= it.index %>/ wheelhouse</code> also works, but pip then takes the highest version of
both indexes, also from the public one: use it only where nobody else can publish that name.</p>
<p>Each file contains the Wheelhouse code that it needs. Third-party packages come from your npm registry.</p>
<p>npm 12 and newer need <code>allow-remote=root</code> in the <code>.npmrc</code> of a project that depends on such an
address.</p>
<p>The platform serves its own version only. A build that must not depend on the platform stores the file and
installs that copy. An address without the version, such as
<code><%= it.sdkUrl %></code>, leads to the current one.</p>`)

/** Serves `/downloads`: the packages of this platform, and the commands that install them. */
export function downloadsPage(options: { baseUrl: string; folder?: string }): Middleware {
  const packages = createPackageStore(options.folder)
  return async (http, next) => {
    if (http.path !== HOME && !http.path.startsWith(`${HOME}/`)) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    const files = await packages.list()
    if (http.path === HOME) sendList(http, files, options.baseUrl)
    else if (http.path === INDEX || http.path.startsWith(`${INDEX}/`)) sendIndex(http, files)
    else sendFile(http, files, http.path.slice(HOME.length + 1))
  }
}

function sendList(http: Context, files: readonly PackageFile[], baseUrl: string): void {
  if (files.length === 0) {
    return sendPage(http, {
      status: 503,
      title: 'The downloads are not packed',
      body: notPackedTemplate({}),
    })
  }
  sendPage(http, {
    status: 200,
    title: 'Downloads',
    wide: true,
    body: listTemplate({
      home: HOME,
      index: `${baseUrl}${INDEX}`,
      packages: files.map((packageFile) => describe(packageFile, baseUrl)),
      sdkUrl: `${baseUrl}${HOME}/${unversionedName('sdk')}`,
    }),
  })
}

function describe({ packageName, file, version, bytes, integrity, sha256 }: PackageFile, baseUrl: string) {
  const { title, purpose, commands } = descriptions[packageName]
  const lines = commands(`${baseUrl}${HOME}/${file}`, baseUrl, sha256).join('\n')
  const size = Math.ceil(bytes.length / 1024)
  return { title, purpose, commands: lines, file, version, size, integrity }
}

function sendFile(http: Context, files: readonly PackageFile[], name: string): void {
  const current = files.find(({ packageName }) => unversionedName(packageName) === name)
  if (current) return http.redirect(`${HOME}/${current.file}`)
  const found = files.find(({ file }) => file === name)
  if (!found)
    throw new AppError(404, 'not_found', 'File not found. See /downloads for the files of this platform.')
  http.status = 200
  // The same version may be packed again from other sources. Caches revalidate, and get 304 while it is unchanged.
  http.set('Cache-Control', 'public, no-cache')
  http.etag = found.integrity
  if (http.fresh) {
    http.status = 304
    return
  }
  http.type = found.packageName === 'python' ? 'application/zip' : 'application/gzip'
  http.set('Content-Disposition', `attachment; filename="${found.file}"`)
  http.body = found.bytes
}

const unversionedName = (packageName: PackageName) =>
  packageName === 'python' ? 'wheelhouse.whl' : `wheelhouse-${packageName}.tgz`

/** Answers pip, which asks for a page of links in HTML. Its addresses end with a slash; pip follows redirects to them. */
function sendIndex(http: Context, files: readonly PackageFile[]): void {
  const name = http.path.slice(INDEX.length + 1)
  const wheel = files.find(({ packageName }) => packageName === 'python')
  if (!http.path.endsWith('/') && (http.path === INDEX || name === PYTHON_PROJECT)) {
    http.status = 301
    return http.redirect(`${http.path}/`)
  }
  if (wheel === undefined || (name !== '' && name !== `${PYTHON_PROJECT}/`))
    throw new AppError(404, 'not_found', `This index has the project ${PYTHON_PROJECT} only.`)
  const link =
    name === ''
      ? `<a href="${PYTHON_PROJECT}/">${PYTHON_PROJECT}</a>`
      : `<a href="../../${wheel.file}#sha256=${wheel.sha256}">${wheel.file}</a>`
  http.set('Cache-Control', 'public, no-cache')
  http.type = 'text/html'
  http.body = `<!DOCTYPE html>
<html><head><meta name="pypi:repository-version" content="1.0"><title>${PYTHON_PROJECT}</title></head>
<body>${link}</body></html>
`
}
