// The types of what `npm run search:map` writes here.
export declare const dimensions: number
export declare const scales: readonly number[]
export declare const rows: string
