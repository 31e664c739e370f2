export type FigureRow = readonly [name: string, value: string]

/** Numbers with their names. */
export function Figures({ rows }: { readonly rows: readonly FigureRow[] }) {
  return (
    <dl class="figures">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
