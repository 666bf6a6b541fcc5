import type { IRegularForbiddenRuleType } from 'dependency-cruiser'
import { moduleEdges } from './module-edges.ts'

/** Everything that runs in production or at users, except the unit tests beside the files that they test. */
const PRODUCT = '^(?:src|gateway|hub|packages)/'
const TEST = '\\.test\\.tsx?$'
const OURS = '^(?:src|gateway|hub|packages|tools|lab|test|examples)/'

const forbid = (
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType => ({ name, comment, severity: 'error', from, to })

/** A page for developers and tests, which no production installation builds. */
const GALLERY = '^packages/console/src/gallery/'
/**
 * The build puts it into the console's files. As a dependency it would add TypeScript, its optional peer, to production
 * installations.
 */
const BUNDLED = 'node_modules/i18next/'

/** Forbids imports from one folder to every file of ours that `allowed` does not match. */
const only = (name: string, comment: string, folder: string, allowed: readonly string[]) =>
  forbid(
    name,
    comment,
    { path: `^${folder}/`, pathNot: TEST },
    { path: OURS, pathNot: [`^${folder}/`, ...allowed] },
  )

const CORE = '^src/core/'
/** Recordings have two further doors, for processes without a database: the transport of samples, and MCAP files. */
const MODULE_INDEX = '^src/modules/(?:[^/]+|recordings/(?:transport|mcap))/index\\.ts$'
const PROTOCOL = '^packages/protocol/index\\.ts$'
const SDK = '^packages/sdk/index\\.ts$'

const layers = [
  only('core-is-the-base', 'core imports core and the protocol only', 'src/core', [PROTOCOL]),
  only('modules-import-core', 'a module imports core, the protocol and listed modules only', 'src/modules', [
    CORE,
    PROTOCOL,
  ]),
  only(
    'roles-import-app',
    'a role imports core, the protocol, index.ts of modules, and the wiring of src/app',
    'src/roles',
    [CORE, MODULE_INDEX, PROTOCOL, '^src/app/', '^(?:gateway|hub)/'],
  ),
  forbid(
    'roles-without-each-other',
    'a role does not know another one; only start-roles.ts knows all',
    { path: '^src/roles/([^/]+)/', pathNot: TEST },
    { path: '^src/roles/[^/]+/', pathNot: '^src/roles/$1/' },
  ),
  only(
    'gateway-imports-modules-and-core',
    'gateway imports core, the protocol and index.ts of modules',
    'gateway',
    [CORE, MODULE_INDEX, PROTOCOL],
  ),
  only('hub-imports-modules-and-core', 'hub imports core, the protocol and index.ts of modules', 'hub', [
    CORE,
    MODULE_INDEX,
    PROTOCOL,
  ]),
  only('app-imports-modules-and-core', 'app imports core, the protocol and modules', 'src/app', [
    CORE,
    '^src/modules/',
    PROTOCOL,
  ]),
  forbid(
    'app-uses-module-index',
    'import index.ts of the module; only app/database imports entities',
    { path: '^src/app/', pathNot: TEST },
    {
      path: '^src/modules/[^/]+/',
      pathNot: [MODULE_INDEX, '\\.entity\\.ts$'],
    },
  ),
  forbid(
    'app-database-knows-entities',
    'only app/database imports entities; import index.ts of the module',
    { path: '^src/app/', pathNot: '^src/app/database/' },
    { path: '^src/modules/.*\\.entity\\.ts$' },
  ),
  forbid(
    'main-imports-app',
    'the entry point imports app, roles and core; it starts the demo by a dynamic import',
    { path: '^src/main\\.ts$' },
    { path: OURS, pathNot: ['^src/app/', '^src/roles/start-roles\\.ts$', CORE, '^tools/demo/'] },
  ),
  forbid(
    'main-starts-demo-dynamically',
    'production must not load the demo: use a dynamic import()',
    { path: '^src/main\\.ts$' },
    { path: '^tools/', dynamic: false },
  ),
]

/** Forbids what is not listed in module-edges.ts, and anything but the index.ts of a listed module. */
const modules = [
  forbid(
    'module-edge-not-listed',
    'this module may not import that module: pass a parameter, record an event, or list the edge in tools/checks/dependencies/module-edges.ts',
    {
      path: '^src/modules/([^/]+)/',
      pathNot: [TEST, ...Object.keys(moduleEdges).map((name) => `^src/modules/${name}/`)],
    },
    { path: '^src/modules/', pathNot: '^src/modules/$1/' },
  ),
  ...Object.entries(moduleEdges).map(([module, targets]) =>
    forbid(
      'module-edge-not-listed',
      'this module may not import that module: pass a parameter, record an event, or list the edge in tools/checks/dependencies/module-edges.ts',
      { path: `^src/modules/${module}/`, pathNot: TEST },
      { path: '^src/modules/', pathNot: [module, ...targets].map((name) => `^src/modules/${name}/`) },
    ),
  ),
  forbid(
    'module-through-index',
    'import index.ts of the other module',
    { path: '^src/modules/([^/]+)/', pathNot: TEST },
    { path: '^src/modules/[^/]+/', pathNot: ['^src/modules/$1/', MODULE_INDEX] },
  ),
]

const packages = [
  only('protocol-imports-nothing', 'the protocol imports nothing of ours', 'packages/protocol', []),
  only('sdk-imports-protocol', 'the SDK imports the index of the protocol only', 'packages/sdk', [PROTOCOL]),
  only('cli-imports-sdk', 'the CLI imports the index of protocol and SDK only', 'packages/cli', [
    PROTOCOL,
    SDK,
  ]),
  only('console-imports-sdk', 'the console imports the index of protocol and SDK only', 'packages/console', [
    PROTOCOL,
    SDK,
  ]),
  only('examples-are-outsiders', 'examples import the index of protocol and SDK only', 'examples', [
    PROTOCOL,
    SDK,
  ]),
  forbid(
    'console-without-gallery',
    'the gallery shows the console; the console does not contain it',
    { path: '^packages/console/', pathNot: GALLERY },
    { path: GALLERY },
  ),
  forbid(
    'portable-packages',
    'the protocol and the SDK run in browsers: import nothing of Node',
    { path: '^packages/(?:protocol|sdk)/', pathNot: TEST },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'declared-packages',
    'declare the package in dependencies of the nearest package.json: a production installation lacks it otherwise',
    { path: PRODUCT, pathNot: [TEST, '\\.config\\.ts$', GALLERY] },
    {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'],
      pathNot: [OURS, '^\\.', BUNDLED],
    },
  ),
  forbid(
    'uwebsockets-in-gateway',
    'only the gateway loads the uWebSockets binary',
    { path: '^(?:src|hub|packages)/' },
    { path: 'uWebSockets\\.js' },
  ),
]

/** Tools and tests read what they need; tools use tests' support only, and one tool does not know the other's inside. */
const tools = [
  forbid(
    'nothing-imports-lab',
    'the lab uses the product and the support of tests, never the other way round',
    { path: OURS, pathNot: '^lab/' },
    { path: '^lab/' },
  ),
  only('demo-plays-with-sdk', 'the demo imports src, protocol and SDK', 'tools/demo', [
    '^src/',
    '^test/support/',
    PROTOCOL,
    SDK,
  ]),
  only('scripts-import-nothing', 'scripts run before anything is installed', 'tools/scripts', []),
  only('checks-import-nothing', 'checks read the tree; they do not run it', 'tools/checks', []),
]

/** The rules that dependency-cruiser evaluates. Cycles of folders: folder-cycles.ts. */
export const rules: IRegularForbiddenRuleType[] = [
  forbid(
    'no-file-cycle',
    'break the cycle: move what both need to a third file',
    { path: OURS },
    { circular: true },
  ),
  forbid(
    'import-resolves',
    'the file does not exist: correct the path and its extension',
    { path: OURS },
    { path: '^\\.', couldNotResolve: true },
  ),
  ...layers,
  ...modules,
  ...packages,
  ...tools,
]
