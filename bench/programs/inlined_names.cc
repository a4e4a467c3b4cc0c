/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One of several units of a program in which nearly all code was inlined from the standard library;
 * UNIT is its number, 0 has main(). */
#include <algorithm>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template <int unit, typename T> struct shelf {
	std::map<std::string, std::vector<T>> rows;
	std::unordered_map<T, std::set<std::string>> where;

	void put(const std::string &name, const T &item)
	{
		rows[name].push_back(item);
		where[item].insert(name);
	}

	T best(const std::string &name)
	{
		std::vector<T> &row = rows[name];

		std::sort(row.begin(), row.end());
		std::stable_sort(row.begin(), row.end(), std::greater<T>());
		return row.empty() ? T() : *std::max_element(row.begin(), row.end());
	}
};

template <int unit, typename T> T work(int count, T seed)
{
	shelf<unit, T> items;
	std::mt19937_64 random(count + unit);
	std::deque<T> queue;
	std::list<T> list;
	std::ostringstream out;

	for (int i = 0; i < count; i++) {
		items.put(std::to_string(random() % 7), T(seed + i));
		queue.push_back(seed);
		list.push_back(T(seed + i));
	}
	list.sort();
	std::partial_sort(queue.begin(), queue.begin() + queue.size() / 2, queue.end());
	out << items.best("3") << list.front();
	return std::accumulate(queue.begin(), queue.end(), items.best("1"));
}

template <int unit> long run(int count)
{
	return work<unit, int>(count, 1) + work<unit, long>(count, 2) +
	       long(work<unit, double>(count, 3)) + work<unit, short>(count, 4) +
	       work<unit, unsigned>(count, 5);
}

template long run<UNIT>(int count);

#if UNIT == 0
int main(int argc, char **)
{
	std::cout << run<UNIT>(argc) << "\n";
}
#endif
