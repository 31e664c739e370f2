// How others describe the gateway: the MCP registry, MCP bundles, and the links that install it.
import { getServerName, type Manifest, type Project } from './packages.mjs'

const TITLE = 'Foldout'
/** The registry takes 100 characters. */
const DESCRIPTION = 'All your MCP servers behind a handful of tools, which the model searches and opens as needed.'
const CONFIG_HELP = 'A file with mcpServers, such as the one that foldout import writes'

/** `server.json` for the MCP registry; undefined until the repository, which its name is derived from, is known. */
export function createServerJson(project: Project, { version }: Manifest): object | undefined {
  const name = getServerName(project)
  if (name === undefined) return undefined
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name,
    title: TITLE,
    description: DESCRIPTION,
    version,
    repository: { url: project.repository, source: 'github', subfolder: 'packages/foldout-mcp' },
    packages: [
      {
        registryType: 'npm',
        identifier: 'foldout-mcp',
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [
          { type: 'positional', value: 'serve' },
          { type: 'named', name: '--config', description: CONFIG_HELP, format: 'filepath', isRequired: true },
        ],
      },
    ],
  }
}

/** Where the program is in a bundle. */
export const BUNDLE_ENTRY = 'server/node_modules/foldout-mcp/bin/foldout.js'

/** `manifest.json` of the MCP bundle. */
export function createBundleManifest({ author, repository: url }: Project, manifest: Manifest): object {
  const { version, license, keywords, engines } = manifest
  return {
    manifest_version: '0.3',
    name: 'foldout',
    display_name: TITLE,
    version,
    description: DESCRIPTION,
    author: { name: author },
    ...(url === undefined ? {} : { repository: { type: 'git', url } }),
    license,
    keywords,
    server: {
      type: 'node',
      entry_point: BUNDLE_ENTRY,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${BUNDLE_ENTRY}`, 'serve', '--config', '${user_config.config}'],
      },
    },
    tools_generated: true,
    user_config: { config: { type: 'file', title: 'Configuration', description: CONFIG_HELP, required: true } },
    compatibility: { runtimes: { node: (engines as { readonly node: string }).node } },
  }
}

/** Both editors replace the variable; they start servers in folders of their own. */
const SERVER = {
  command: 'npx',
  args: ['-y', 'foldout-mcp', 'serve', '--config', '${userHome}/foldout.config.json'],
}

/** Links that add the gateway to an editor, as Markdown. They are web pages, because not every page may link to a program. */
export function formatInstallLinks(): string {
  const forCursor = encodeURIComponent(Buffer.from(JSON.stringify(SERVER)).toString('base64'))
  const forCode = encodeURIComponent(JSON.stringify(SERVER))
  return [
    `[Add to Cursor](https://cursor.com/en/install-mcp?name=foldout&config=${forCursor})`,
    `[Add to VS Code](https://insiders.vscode.dev/redirect/mcp/install?name=foldout&config=${forCode})`,
  ].join(' · ')
}
