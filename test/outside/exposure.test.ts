// An exposure as a third party would write it, with public entries only.
import {
  createExposedCatalog,
  getTarget,
  runTool,
  type Catalog,
  type CatalogEntry,
  type Exposure,
  type MetaScope,
  type MetaTool,
} from 'foldout/catalog'
import { exposureSuite } from 'foldout/testing/suites'

/** Lists two tools: one that shows every tool of a shelf, and one that runs a tool. */
function shelves(): Exposure {
  return {
    name: 'shelves',
    expose(catalog, client) {
      const scope = { catalog, client }
      return createExposedCatalog({
        ...scope,
        exposure: 'shelves',
        instructions: 'Call look_on_shelf for the tools of a shelf, and run_from_shelf to run one.',
        entries: () => [],
        metaTools: [createLook(catalog), createRun(scope)],
      })
    },
  }
}

const onShelf = (shelf: unknown, { category, name, description }: CatalogEntry): boolean =>
  [category, name, description].includes(String(shelf))

function createLook(catalog: Catalog): MetaTool {
  return {
    listing: {
      name: 'look_on_shelf',
      description: `Shows the tools of a shelf. Shelves: ${catalog.categories.join(', ')}`,
      inputSchema: { type: 'object', properties: { shelf: { type: 'string' } }, required: ['shelf'] },
    },
    async call({ shelf }) {
      const found = catalog.tools.filter((tool) => onShelf(shelf, tool))
      return { content: [{ type: 'text', text: found.map(({ name }) => name).join('\n') }] }
    },
  }
}

function createRun(scope: MetaScope): MetaTool {
  return {
    listing: {
      name: 'run_from_shelf',
      description: 'Runs a tool.',
      inputSchema: { type: 'object', properties: { tool: { type: 'string' }, input: { type: 'object' } } },
    },
    call: ({ tool, input }, context) => runTool(scope, { name: tool, args: input, through: 'run_from_shelf' }, context),
    target: ({ tool, input }) => getTarget(scope, { name: tool, args: input }),
  }
}

exposureSuite('an exposure from outside', shelves, {
  driver: {
    toFind: (query) => ({ name: 'look_on_shelf', arguments: { shelf: query } }),
    toRun: (tool, args) => ({ name: 'run_from_shelf', arguments: { tool, input: args } }),
  },
})
