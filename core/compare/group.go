package compare

import (
	"cmp"
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/record"
)

// Group is the rows of one suite that stand side by side.
type Group struct {
	Run  *record.Run
	Cell cell.Cell // the values that all rows share; axes in which they differ are empty
	Rows []Row
}

// Scenarios groups rows that differ in nothing but their contender.
func Scenarios(rows []Row) []Group { return groups(rows, cell.Cell.Scenario) }

// Workloads groups rows that differ in contender and IO model, each contender's
// IO models together.
func Workloads(rows []Row) []Group {
	list := groups(rows, func(c cell.Cell) cell.Cell {
		c = c.Scenario()
		c.IOModel, c.Threads = "", 0
		return c
	})
	for _, g := range list {
		slices.SortFunc(g.Rows, func(a, b Row) int {
			return cmp.Or(compareContenders(a, b), compareIOModels(a.Cell, b.Cell))
		})
	}
	return list
}

// groups puts rows of one suite with the same shared cell together, and keeps
// the order in which groups begin.
func groups(rows []Row, shared func(cell.Cell) cell.Cell) []Group {
	var list []Group
	index := map[key]int{}
	for _, r := range rows {
		k := key{r.Run.Suite, shared(r.Cell)}
		i, seen := index[k]
		if !seen {
			i = len(list)
			index[k] = i
			list = append(list, Group{Run: r.Run, Cell: k.cell})
		}
		list[i].Rows = append(list[i].Rows, r)
	}
	return list
}
