//! Rows of cut links that change: each block that moving solids may touch has a row of its own, which kernels fill. The rows of other blocks
//! do not change while the grid and the places stay; the host writes them.

use std::collections::BTreeSet;

use lbm_bundle::Manifest;
use lbm_bundle::cutting::{FIRST_OF_LINKS, PASS_LISTS, PASS_TURNS};

use crate::device::{Buffer, Device};
use crate::geometry::Block;
use crate::geometry::solid::{Cut, SolidError};
use crate::kernels::{self, Found, NearShapes, Placed};
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::solids::bodies::{Bodies, Entries, LinkRows, Listed};
use crate::solver::solids::moving::{
    Moving, Shapes, SweptBlocks, Timeline, items_of_place, lookers, states_of, workers,
};

/// Fraction of the rows that is added when they run out.
const MORE_ROWS: f64 = 0.25;

impl Bodies {
    /// A row that no block has.
    fn free_row(&mut self, device: &Device, manifest: &Manifest) -> Result<usize, StepError> {
        let (cells, length) = (manifest.cells(), manifest.q() * manifest.cells());
        let moving = self.moving.as_mut().expect("something moves");
        if moving.free.is_empty() {
            let room = self.links[0].links.len() / length;
            let more = ((room as f64 * MORE_ROWS) as usize).max(1);
            for set in &mut self.links {
                set.links = longer(&set.links, device.alloc_ints((room + more) * length)?)?;
                set.distances = longer(&set.distances, device.alloc_reals(manifest.real, (room + more) * length)?)?;
            }
            moving.states = longer(&moving.states, device.alloc_ints((room + more) * cells)?)?;
            moving.free.extend((room..room + more).rev());
        }
        Ok(moving.free.pop().expect("there is room"))
    }

    /// Gives a block that moving solids cannot touch the links that the host has cut.
    fn take(&mut self, device: &Device, manifest: &Manifest, block: Block, cut: &Cut) -> Result<(), StepError> {
        let moving = self.moving.as_mut().expect("something moves");
        let own = moving.rows.remove(&block).filter(|row| *row > 0);
        let row = match cut {
            Cut::Some(_) => match own {
                Some(row) => Some(row),
                None => Some(self.free_row(device, manifest)?),
            },
            Cut::All => Some(0),
            Cut::Nothing => None,
        };
        let moving = self.moving.as_mut().expect("something moves");
        moving.free.extend(own.filter(|_| !matches!(cut, Cut::Some(_))));
        if let (Cut::Some(of), Some(row)) = (cut, row) {
            let (cells, length) = (manifest.cells(), manifest.q() * manifest.cells());
            for set in &mut self.links {
                set.links.write_ints(row * length, &of.links)?;
                set.distances.write_reals(row * length, &of.distances)?;
            }
            moving.states.write_ints(row * cells, &states_of(&of.links[..cells]).collect::<Vec<_>>())?;
        }
        moving.rows.extend(row.map(|row| (block, row)));
        Ok(())
    }

    /// Whether the places that are listed are those of the interval that the cutters have reserved, on a grid that is the same.
    pub(crate) fn lists_interval(&self) -> bool {
        let moving = self.moving.as_ref();
        moving.is_none_or(|moving| {
            let places = moving.places(&self.cutters.solids, self.own.levels());
            let listed = moving.swept.blocks.iter().zip(&moving.swept.solids);
            places.iter().map(|(block, solids)| (block, solids)).eq(listed)
        })
    }

    /// Lists the places of the interval that the cutters have reserved, after the grid or the interval has changed: each gets a row. Rows of
    /// blocks that no longer exist are freed, and the host cuts the links of blocks that are new or no place any more.
    pub(crate) fn renew(
        &mut self,
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        owned: Option<&Owned>,
        walls: &mut Walls,
    ) -> Result<(), StepError> {
        let (count, cutters) = (self.own.levels(), self.cutters.clone());
        let Some(moving) = &mut self.moving else { return Ok(()) };
        moving.replaced += 1;
        let before = moving.leaves.renew(grid)?;
        let is_gone = |block: &Block| moving.leaves.get(block).is_none();
        let gone: Vec<Block> = moving.rows.keys().copied().filter(is_gone).collect();
        let rows: Vec<usize> = gone.iter().filter_map(|block| moving.rows.remove(block)).collect();
        moving.free.extend(rows.into_iter().filter(|row| *row > 0));

        let (places, solids): (Vec<Block>, Vec<Vec<usize>>) = moving.places(&cutters.solids, count).into_iter().unzip();
        let was = std::mem::take(&mut moving.swept.blocks);
        let (now, then): (BTreeSet<Block>, BTreeSet<Block>) =
            (places.iter().copied().collect(), was.into_iter().collect());
        let is_place = |block: &Block| now.contains(block);
        let to_cut: Vec<Block> = match &before {
            None => then.into_iter().filter(|block| !is_place(block)).collect(),
            Some(before) => {
                let is_new = |block: &Block| before.get(block).is_none() || then.contains(block);
                moving.leaves.blocks().filter(|block| !is_place(block) && is_new(block)).collect()
            }
        };
        let cuts = cutters.cut_moved(to_cut, |block| moving.leaves.get(&block).is_some(), &manifest.directions)?;
        for (block, cut) in &cuts {
            self.take(device, manifest, *block, cut)?;
        }
        let mut are_new = false;
        for block in &places {
            let own = self.moving.as_ref().and_then(|moving| moving.rows.get(block).copied());
            if own.is_none_or(|row| row == 0) {
                let row = self.free_row(device, manifest)?;
                self.moving.as_mut().expect("something moves").rows.insert(*block, row);
                are_new = true;
            }
        }

        let moving = self.moving.as_mut().expect("something moves");
        let of_place = |block: &Block| {
            let lowest = [0, 1, 2].map(|axis| (block.place[axis] * manifest.block[axis] as usize) as i32);
            let (row, slot) = (moving.rows[block] as i32, moving.leaves[block].slot as i32);
            [row, slot, lowest[0], lowest[1], lowest[2]]
        };
        let table: Vec<i32> = places.iter().flat_map(of_place).collect();
        if !table.is_empty() {
            self.places = device.ints(&table)?;
        }
        if !moving.turning.is_empty() {
            self.make_walls(device, manifest, places.len(), walls)?;
        }
        let moving = self.moving.as_mut().expect("something moves");
        let swept = &mut moving.swept;
        let room = swept.near_cells.len() / manifest.cells();
        if (room.div_ceil(2)..=room).contains(&places.len()) {
            swept.list(device, (places, solids), count)?;
        } else {
            *swept = SweptBlocks::new(device, manifest, (places, solids), count, moving.surfaces.scanned > 0)?;
        }
        self.list_again(device, grid, owned)?;
        self.show(device)?;
        if are_new {
            // What is known of the cells of new rows is that of other blocks: no solid has left them since.
            (0..count).try_for_each(|level| self.occupy((level, self.current[level])))?;
            self.forget_parts()?;
        }
        (0..count).try_for_each(|level| {
            let set = self.current[level];
            self.occupy((level, set))?;
            self.cut((level, set), grid, walls)
        })
    }

    /// Makes room for a wall in each set for each link of a number of places.
    fn make_walls(
        &mut self,
        device: &Device,
        manifest: &Manifest,
        places: usize,
        walls: &mut Walls,
    ) -> Result<(), StepError> {
        let (stride, links) = (manifest.wall_stride as usize, places * manifest.q() * manifest.cells());
        let first = self.surfaces[0].first;
        let count = first + self.surfaces.len() * links;
        if walls.rules.len() < count {
            walls.rules = longer(&walls.rules, device.alloc_ints(count)?)?;
            walls.values = longer(&walls.values, device.alloc_reals(manifest.real, count * stride)?)?;
            self.owners = longer(&self.owners, device.alloc_ints(count)?)?;
            for (at, set) in self.surfaces.iter_mut().enumerate() {
                set.first = first + at * links;
                set.form.write_ints(FIRST_OF_LINKS, &[set.first as i32])?;
            }
        }
        Ok(())
    }

    /// Refuses places beside refinement interfaces, or where links have walls of their own because values vary.
    pub(crate) fn check_places(&self, manifest: &Manifest) -> Result<(), SolidError> {
        let Some(Moving { leaves, swept, .. }) = &self.moving else { return Ok(()) };
        self.cutters.check_moved(&swept.blocks, |block| leaves.get(&block).is_some(), &manifest.directions)
    }

    /// Lists the blocks that have rows, and of a subdomain its own.
    pub(crate) fn list_again(&mut self, device: &Device, grid: &Grid, owned: Option<&Owned>) -> Result<(), StepError> {
        let Some(moving) = &self.moving else { return Ok(()) };
        let mut listed = moving.listed();
        let is_at_interface =
            |block| self.cutters.is_cut_at_interface(block, |near| moving.leaves.get(&near).is_some());
        self.listed = Listed::sort(&mut listed, self.own.levels(), |(block, ..)| *block, is_at_interface);
        self.own = self.listed.clone();
        self.nodes = device.ints(&listed.iter().map(|(_, node, _)| *node).collect::<Vec<_>>())?;
        self.row = device.ints(&listed.iter().map(|(.., row)| *row).collect::<Vec<_>>())?;
        self.list = device.alloc_ints(listed.len())?;
        let blocks: Vec<Block> = listed.iter().map(|(block, ..)| *block).collect();
        let touched = std::iter::zip(&moving.swept.blocks, &moving.swept.solids).collect();
        self.entries = Entries::new(device, &self.cutters.solids, &blocks, &touched)?;
        self.follow(grid)?;
        owned.map_or(Ok(()), |owned| self.keep_own(device, owned))
    }

    /// Tells the device where all shapes are at present.
    pub(crate) fn show(&mut self, device: &Device) -> Result<(), StepError> {
        let Some(moving) = &self.moving else { return Ok(()) };
        let shapes = moving.shapes(&self.cutters.solids, &moving.rates);
        self.make_room(device, shapes.count())?;
        // Moves to either set begin here.
        let mut all = self.surfaces.iter_mut().flat_map(|set| &mut set.shapes);
        Ok(all.try_for_each(|of_level| of_level.write(&shapes))?)
    }

    /// Takes the cells of all parts of places as unlike those of the moves before.
    pub(super) fn forget_parts(&mut self) -> Result<(), StepError> {
        self.moving.as_mut().map_or(Ok(()), |moving| Ok(moving.swept.forget_parts()?))
    }

    /// How many shapes there is room for.
    pub(crate) fn room_for_shapes(&self) -> usize {
        self.surfaces[0].shapes[0].room
    }

    /// Makes room for a number of shapes; returns whether there was less.
    pub(crate) fn make_room(&mut self, device: &Device, count: usize) -> Result<bool, StepError> {
        let room = self.room_for_shapes();
        let Some(moving) = self.moving.as_mut().filter(|_| room < count) else { return Ok(false) };
        for of_level in self.surfaces.iter_mut().flat_map(|set| &mut set.shapes) {
            *of_level = Shapes::new(device, count)?;
        }
        moving.numbers = device.ints(&(0..items_of_place(count, self.count)).collect::<Vec<_>>())?;
        // Its entries have less room.
        moving.timeline = Timeline::new(device)?;
        moving.replaced += 1;
        Ok(true)
    }

    /// Finds the cells of all places of a level that the shapes on the device fill, and keeps which were solid before. Criteria read that of
    /// blocks of other subdomains, too, and links at the boundary of a subdomain depend on it.
    pub(crate) fn occupy(&mut self, (level, set): (usize, usize)) -> Result<(), StepError> {
        let of_links = self.set_of_links(level, set);
        let Bodies { links, surfaces: of_set, places: table, moving: Some(moving), .. } = self else { return Ok(()) };
        let Some(places) = moving.swept.levels.get(level).cloned() else { return Ok(()) };
        let LinkRows { links, distances } = &mut links[of_links];
        let (form, shapes) = (&of_set[set].form, &of_set[set].shapes[level]);
        let own = &moving.swept.own[level];
        let (own_from, own_to) = (own.start as i32, own.end as i32);
        let (level, surfaces, passages) = (level as i32, &moving.surfaces, &mut moving.passages);
        let parts = places.start * moving.parts..places.end * moving.parts;
        let (from, to) = (places.start as i32, places.end as i32);
        let found = |map| Found { map, entries: map.len() as i32, from, to };
        let items = &moving.swept.items;
        let is_scanned = surfaces.scanned > 0 && !places.is_empty();
        let several = |count: usize| if is_scanned { workers(count).min(items.len()) } else { 0 };
        let (passing, listed) = (several(surfaces.scanned * PASS_TURNS), several(2 * PASS_LISTS * passages.room));
        let room = passages.room as i32;
        moving.kernels.launch(kernels::cutting::Pass {
            items: items.slice(0..passing),
            workers: passing as i32,
            form,
            level,
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            leaf_of: &surfaces.leaf_of,
            room,
            passages: &mut passages.links,
            passed: &mut passages.counts,
        })?;
        moving.kernels.launch(kernels::cutting::Mark {
            items: items.slice(0..listed),
            workers: listed as i32,
            placed: Placed { form, level, places: table },
            found: found(&moving.swept.map),
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            leaf_of: &surfaces.leaf_of,
            room,
            passages: &passages.links,
            passed: &passages.counts,
            marks: &mut moving.swept.marks,
        })?;
        moving.kernels.launch(kernels::cutting::List {
            items: moving.swept.items.slice(parts.clone()),
            first_part: parts.start as i32,
            parts: parts.len() as i32,
            placed: Placed { form, level, places: table },
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            near_shapes: &mut moving.swept.near_shapes,
            near_leaves: &mut moving.swept.near_leaves,
            near_counts: &mut moving.swept.near_counts,
            marks: &moving.swept.marks,
            passed: &mut passages.counts,
        })?;
        moving.kernels.launch(kernels::cutting::Occupy {
            items: moving.swept.items.slice(places.start * moving.cells..places.end * moving.cells),
            placed: Placed { form, level, places: table },
            near: NearShapes { near_shapes: &moving.swept.near_shapes, near_leaves: &moving.swept.near_leaves },
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            own_from,
            own_to,
            states: &mut moving.states,
            links,
            distances,
            near_counts: &mut moving.swept.near_counts,
            near_cells: &mut moving.swept.near_cells,
            fractions: &mut moving.swept.fractions,
            marks: &mut moving.swept.marks,
        })?;
        Ok(moving.kernels.launch(kernels::cutting::Scan {
            items: moving.swept.items.slice(0..listed),
            workers: listed as i32,
            placed: Placed { form, level, places: table },
            found: found(&moving.swept.map),
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            leaf_of: &surfaces.leaf_of,
            room,
            passages: &passages.links,
            passed: &passages.counts,
            states: &moving.states,
            fractions: &mut moving.swept.fractions,
        })?)
    }

    /// Cuts the links of a level, of a subdomain those of its own places, for the shapes as they are on the device and the cells that they fill.
    pub(crate) fn cut(
        &mut self,
        (level, set): (usize, usize),
        grid: &Grid,
        walls: &mut Walls,
    ) -> Result<(), StepError> {
        let of_links = self.set_of_links(level, set);
        let Bodies { rows, links, surfaces: of_set, owners, places: table, moving: Some(moving), .. } = self else {
            return Ok(());
        };
        if level >= moving.swept.own.len() {
            return Ok(());
        }
        let LinkRows { links, distances } = &mut links[of_links];
        let (form, shapes) = (&of_set[set].form, &of_set[set].shapes[level]);
        let (surfaces, own) = (&moving.surfaces, &moving.swept.own[level]);
        let (own_from, own_to, level) = (own.start as i32, own.end as i32, level as i32);
        let (workers, lookers) = (workers(own.len() * moving.links), lookers(own.len() * moving.cells));
        let neighbours = &grid.tables().neighbours;
        moving.kernels.launch(kernels::cutting::Cut {
            items: moving.swept.items.slice(0..workers),
            workers: workers as i32,
            own_from,
            own_to,
            placed: Placed { form, level, places: table },
            near: NearShapes { near_shapes: &moving.swept.near_shapes, near_leaves: &moving.swept.near_leaves },
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            neighbours,
            rows,
            near_counts: &mut moving.swept.near_counts,
            near_cells: &moving.swept.near_cells,
            states: &moving.states,
            fractions: &moving.swept.fractions,
            links: &mut *links,
            distances: &mut *distances,
            wall_rules: &mut walls.rules,
            wall_values: &mut walls.values,
            owners: &mut *owners,
            detours: &mut moving.swept.detours,
            beside: &mut moving.swept.beside,
        })?;
        Ok(moving.kernels.launch(kernels::cutting::Detour {
            items: moving.swept.items.slice(0..lookers),
            workers: lookers as i32,
            own_from,
            own_to,
            placed: Placed { form, level, places: table },
            near: NearShapes { near_shapes: &moving.swept.near_shapes, near_leaves: &moving.swept.near_leaves },
            solids: shapes.arguments(),
            surfaces: surfaces.arguments(),
            neighbours,
            rows,
            near_counts: &moving.swept.near_counts,
            states: &moving.states,
            fractions: &moving.swept.fractions,
            links,
            distances,
            wall_rules: &mut walls.rules,
            wall_values: &mut walls.values,
            owners,
            detours: &mut moving.swept.detours,
            beside: &mut moving.swept.beside,
        })?)
    }
}

/// A buffer with the values of a shorter one.
fn longer<E: crate::device::Element>(from: &Buffer<E>, mut to: Buffer<E>) -> Result<Buffer<E>, StepError> {
    let mut bytes = vec![0; from.bytes()];
    from.read_raw(0, &mut bytes)?;
    to.write_raw(0, &bytes)?;
    Ok(to)
}
