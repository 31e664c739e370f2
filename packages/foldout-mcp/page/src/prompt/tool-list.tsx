import type { PromptTool } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, toLabel } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'

/** The tools that the model is offered, in the order that it gets them. */
export function ToolList({ tools }: { readonly tools: readonly PromptTool[] }) {
  if (tools.length === 0) return <Empty title="No tools">No open section offers a tool, and nothing is folded.</Empty>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Offered by</th>
          <th scope="col" class="number">
            Tokens
          </th>
        </tr>
      </thead>
      <tbody>
        {tools.map(({ name, description, section, tokens }) => (
          <tr key={name}>
            <th scope="row">
              <code>{toLabel(name)}</code>
              <span class="note clamp">
                <Exact text={description} />
              </span>
            </th>
            <td>
              {section === undefined ? (
                <span class="chip accent">opens sections</span>
              ) : (
                <code>{toLabel(section)}</code>
              )}
            </td>
            <td class="number">{formatNumber(tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
